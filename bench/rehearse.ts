/**
 * What it takes to look into a bootstrap config, and to rehearse it.
 *
 * `node bench/rehearse.ts [--runs N]`: whole processes of the bundle. A config of 5 MB is inspected and validated (against
 * ignition-validate, where it is installed); a release of 190 images at a loopback mirror with TLS and a password is rehearsed, level 1
 * and both levels, against skopeo asking for the same 190 manifests.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { encodeDataUrl } from '../src/ignition/data-url.ts'
import { formatReference } from '../src/oci/reference.ts'
import { startBootstrapSite } from '../testkit/bootstrap-site.ts'
import { peer } from '../testkit/peers.ts'
import { tempDir } from '../testkit/temp-dir.ts'
import { Cleanups, type Contender, measureInTurn, measureTable } from './measure.ts'

const bundle = fileURLToPath(new URL('../dist/sallyport.js', import.meta.url))
const sallyport = [process.execPath, '--max-semi-space-size=8', '--heap-growing-percent=15', bundle]

const { values } = parseArgs({ options: { runs: { type: 'string', default: '7' } } })
const runs = Number(values.runs)

/** Adds files until the text has 5 MB: half scripts, half manifests. */
function widened(text: string): string {
  const document = JSON.parse(text) as { storage: { files: object[] } }
  for (let size = text.length, index = 0; size < 5_000_000; index += 1) {
    const isScript = index % 2 === 0
    const path = isScript ? `/usr/local/bin/more-${index}.sh` : `/opt/openshift/manifests/more-${index}.yaml`
    const line = isScript ? `echo "line of script ${index}"\n` : `# line of manifest ${index}\n`
    const head = isScript ? '#!/bin/bash\n' : `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: more-${index}\n`
    const source = encodeDataUrl(head + line.repeat(600))
    document.storage.files.push({ path, mode: 0o644, overwrite: true, contents: { source } })
    size += source.length
  }
  return JSON.stringify(document)
}

const cleanups = new Cleanups()
try {
  const site = await startBootstrapSite(cleanups, { components: 'whole' })
  const directory = await tempDir(cleanups)
  const large = join(directory, 'large.ign')
  await writeFile(large, widened(site.ignition))
  const via = Object.entries(site.via).flatMap(([host, address]) => ['--via', `${host}=${address}`])
  const validate = peer(cleanups, 'ignition-validate')
  const skopeo = peer(cleanups, 'skopeo')
  const { username, password } = site.credentials
  const images = site.release.components.map(({ image }) =>
    formatReference({ registry: site.address, repository: 'ocp/openshift/release', digest: image.digest }),
  )
  const ask = `skopeo inspect --raw --tls-verify=false --creds '${username}:${password}' docker://{} >/dev/null`
  const contenders: readonly Contender[] = [
    { name: 'inspect, 5 MB', command: [...sallyport, 'ignition', 'inspect', large] },
    { name: 'validate, 5 MB', command: [...sallyport, 'ignition', 'validate', large] },
    ...(validate ? [{ name: 'ignition-validate, 5 MB', command: [validate, large] }] : []),
    { name: 'rehearse --level 1, 190 images', command: [...sallyport, 'rehearse', site.path, '--level', '1', ...via] },
    { name: 'rehearse, both levels', command: [...sallyport, 'rehearse', site.path, ...via] },
    ...(skopeo
      ? [
          {
            name: 'skopeo inspect --raw of the 190, 8 at a time',
            command: ['/bin/sh', '-c', `printf '%s\\n' ${images.join(' ')} | xargs -P 8 -I{} sh -c "${ask}"`],
          },
        ]
      : []),
  ]
  process.stdout.write(measureTable(await measureInTurn(contenders, runs)))
} finally {
  await cleanups.run()
}

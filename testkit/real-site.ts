/**
 * A real site on one machine: an upstream and a mirror on loopback, and a release whose installer is a script. Its names stand in
 * a hosts file that its commands see in the place of /etc/hosts, which takes root.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { systemClock } from '../src/host/clock.ts'
import { bootstrapComponents } from '../src/quickstart/sample-bootstrap/bootkube-script.ts'
import { sampleBootstrap } from '../src/quickstart/sample-bootstrap/bootstrap-config.ts'
import { sampleTlsAssets } from '../src/quickstart/sample-bootstrap/tls-assets.ts'
import { releaseSources } from '../src/quickstart/sample-release.ts'
import { htpasswdLine } from '../src/registry/htpasswd.ts'
import { placeholderOf } from '../src/release/patch-binary.ts'
import { makeSampleSigner } from '../src/trust/sample-signer.ts'
import { pullSecretFor } from './bootstrap-site.ts'
import { testCertificate } from './certificates.ts'
import { startEmbeddedRegistry } from './embedded-registry.ts'
import { type CliResult, runCli } from './run-cli.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'
import { imageSetText, releaseName, startUpstream } from './upstream.ts'

export interface RealSite {
  /** Where sallyport.yaml is on the connected side. */
  readonly connected: string
  /** An empty directory for the other side. */
  readonly closed: string
  /** `mirror.c1.lab.test:PORT` */
  readonly registry: string
  /** By digest. */
  readonly release: string
  /** What the installer was given: arguments and environment, one line a call. */
  readonly calls: () => Promise<string>
  /** Writes sallyport.yaml and what it names into a directory. */
  write(directory: string, site: object): Promise<void>
  cli(directory: string, ...words: string[]): Promise<CliResult>
}

const credentials = { username: 'mirror', password: 'opens the mirror' }
const era = '4.16'
const name = 'c1'
const baseDomain = 'lab.test'
const mirrorName = `mirror.${name}.${baseDomain}`

export async function startRealSite(t: Cleanup): Promise<RealSite> {
  const [connected, closed, kit] = await Promise.all([tempDir(t), tempDir(t), tempDir(t)])
  const upstream = await startUpstream(t, {
    release: {
      components: [...new Set([...bootstrapComponents(era), 'installer', 'cli', 'cloud-credential-operator'])],
      componentFiles: programs(kit),
    },
    images: { content: [], additional: [] },
  })
  const { release } = upstream
  const { tls, ca } = await testCertificate(t, [mirrorName])
  const htpasswd = join(kit, 'htpasswd')
  await writeFile(htpasswd, await htpasswdLine(credentials.username, credentials.password), { mode: 0o600 })
  const mirror = await startEmbeddedRegistry(t, { htpasswd, tls: { certificate: tls.cert, key: tls.key } })
  const registry = `${mirrorName}:${mirror.address.split(':').at(-1)}`
  const pullSecret = pullSecretFor(registry, credentials)
  const image = `${releaseSources.registry}/${releaseSources.images}@${release.image.digest}`
  const source = (path: string) => `${releaseSources.registry}/${path}`
  const bootstrap = sampleBootstrap({
    clusterName: name,
    baseDomain,
    era,
    releaseImage: `${registry}/ocp/openshift/release-images@${release.image.digest}`,
    tls: await sampleTlsAssets({ clusterName: name, baseDomain, seed: 'real', notBefore: systemClock.now() - 60_000 }),
    trustBundle: ca,
    pullSecret,
    digestSources: [
      { source: source(releaseSources.images), mirrors: [`${registry}/ocp/openshift/release-images`] },
      { source: source(releaseSources.components), mirrors: [`${registry}/ocp/openshift/release`] },
    ],
  })
  await writeFile(join(kit, 'bootstrap.ign'), bootstrap)
  const hosts = join(kit, 'hosts')
  const names = [mirrorName, `api.${name}.${baseDomain}`, `api-int.${name}.${baseDomain}`]
  await writeFile(hosts, `127.0.0.1 localhost ${names.join(' ')}\n`)
  const env = {
    ...(await trust(kit, release.image.digest, releaseName(release))),
    CONTAINERS_REGISTRIES_CONF: upstream.registriesConf,
    UPDATE_URL_OVERRIDE: `file://${join(kit, 'graph.json')}`,
  }
  await writeFile(join(kit, 'graph.json'), graphText(image))
  const prefix = ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"', hosts]
  return {
    ...{ connected, closed, registry, release: image },
    calls: () => readFile(join(kit, 'calls'), 'utf8'),
    cli: (cwd, ...words) => runCli(words, { cwd, prefix, env }),
    write: async (directory, site) => {
      await mkdir(directory, { recursive: true })
      await writeFile(join(directory, 'sallyport.yaml'), stringify({ kind: 'Site', name, baseDomain, ...site }))
      await writeFile(join(directory, 'imageset-config.yaml'), imageSetText({ release: releaseName(release) }))
      await writeFile(join(directory, 'mirror-auth.json'), pullSecret, { mode: 0o600 })
      await writeFile(join(directory, 'mirror-ca.pem'), ca)
    },
  }
}

/** What an update service would say of the channel stable-4.18. */
function graphText(payload: string): string {
  const metadata = { 'io.openshift.upgrades.graph.release.channels': 'stable-4.18' }
  return JSON.stringify({ version: 1, nodes: [{ version: '4.18.9', payload, metadata }], edges: [] })
}

async function trust(directory: string, digest: `sha256:${string}` | `sha512:${string}`, reference: string) {
  const signer = await makeSampleSigner('real site')
  const signatures = join(directory, 'signatures')
  const folder = join(signatures, digest.replace(':', '='))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'signature-1'), await signer.sign(digest, reference))
  const key = join(directory, 'release-key.asc')
  await writeFile(key, signer.publicKey)
  return { OCP_SIGNATURE_URL: `file://${signatures}`, OCP_SIGNATURE_VERIFICATION_PK: key }
}

/** The programs of the release: the installer takes and leaves the files that the real one does. */
function programs(kit: string) {
  const read = (mark: string) => `tr '\\0' '\\n' <"$0" | sed -n 's|^@${mark}=||p'`
  const installer = `#!/bin/sh
image=$(${read('image')})
echo "$* proxy=$HTTPS_PROXY override=$OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE image=$image" >> '${kit}/calls'
dir=$4
case "$1 $2" in
'version '*)
  echo "$0 $(${read('version')})"
  echo "release image $image"
  echo "release architecture $(${read('architecture')} | sed 's|linux/||')" ;;
'create manifests')
  [ -e "$dir/install-config.yaml" ] || { echo 'level=fatal msg="no install-config"'; exit 3; }
  rm "$dir/install-config.yaml"; mkdir "$dir/manifests" "$dir/openshift" ;;
'create ignition-configs')
  # The real one takes no object twice.
  ls "$dir/manifests" | sed 's/[.][a-z]*$//' | sort | uniq -d | grep . && exit 1
  rm -r "$dir/manifests" "$dir/openshift"; mkdir "$dir/auth"
  echo '{}' > "$dir/master.ign"; echo '{}' > "$dir/worker.ign"; echo secret > "$dir/auth/kubeconfig"
  cp '${kit}/bootstrap.ign' "$dir/bootstrap.ign" ;;
esac
exit
`
  const marks = (['image', 'version', 'architecture'] as const).flatMap((mark) => [
    Buffer.from(`\n@${mark}=`),
    placeholderOf(mark),
  ])
  const oc = `#!/bin/sh\necho "Client Version: $(${read('version')})"\nexit\n`
  return {
    installer: { 'usr/bin/openshift-install': Buffer.concat([Buffer.from(installer), ...marks]) },
    cli: { 'usr/bin/oc': Buffer.concat([Buffer.from(oc), Buffer.from('\n@version='), placeholderOf('version')]) },
    'cloud-credential-operator': { 'usr/bin/ccoctl': Buffer.from('#!/bin/sh\necho ccoctl\n') },
  }
}

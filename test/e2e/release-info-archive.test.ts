/** `sallyport release info` on what is carried across, and on the payload of a real release. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { tarFile } from '../../src/archive/tar/ustar.ts'
import { parseImageSetConfiguration } from '../../src/config/image-set-configuration.ts'
import { mirrorToDisk } from '../../src/flows/mirror-to-disk.ts'
import { workspaceAt } from '../../src/mirror/workspace.ts'
import { mediaTypes } from '../../src/oci/media-type.ts'
import { sampleImage } from '../../src/quickstart/sample-image.ts'
import { releaseSources } from '../../src/quickstart/sample-release.ts'
import { parseRegistriesConf } from '../../src/registries/parse.ts'
import { withRegistriesConf } from '../../src/remote/registries-conf-source.ts'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { cachedContent, writeOcMirrorArchive } from '../../testkit/oc-mirror-archive.ts'
import { makeRelease } from '../../testkit/release-payload.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { pushAll, releaseContent } from '../../testkit/seed.ts'
import { makeLayer } from '../../testkit/tar.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText, releaseName, startUpstream, type Upstream } from '../../testkit/upstream.ts'

const nothing = { content: [], additional: [] }

function info(...args: readonly string[]) {
  return runCli(['release', 'info', '--retry-times', '0', ...args])
}

async function documentOf(...args: readonly string[]) {
  const { stdout, stderr } = await info('--json', ...args)
  assert.ok(stdout.startsWith('{"name"'), `${stdout}${stderr}`)
  const { origin, ...document } = JSON.parse(stdout)
  return { origin: String(origin), document }
}

interface Carrier {
  readonly directory: string
  /** Writes the next archive, and tells its kind. */
  carry(upstream: Upstream, release: string, volumeBytes?: number): Promise<string>
}

async function carrier(t: TestContext): Promise<Carrier> {
  const directory = await tempDir(t)
  const workspace = workspaceAt(await tempDir(t), '/')
  return {
    directory,
    carry: async (upstream, release, volumeBytes = 1024 * 1024) => {
      const configuration = imageSetText({ release })
      const conf = parseRegistriesConf(await readFile(upstream.registriesConf, 'utf8'), 'registries.conf')
      const { archive } = await mirrorToDisk({
        ...{ directory, workspace, configuration, base: {}, clock: new FakeClock(), volumeBytes },
        config: parseImageSetConfiguration({ file: 'isc.yaml', text: configuration }),
        source: withRegistriesConf(testClient(t).client, conf),
        signal: new AbortController().signal,
        onEvent: () => undefined,
      })
      return archive?.record.kind ?? 'none'
    },
  }
}

test('an archive, what oc-mirror wrote, and the registry tell the same of a release', async (t) => {
  const upstream = await startUpstream(t, { images: nothing })
  const { document: direct } = await documentOf('4.18.9', '--registries-conf', upstream.registriesConf)
  const ours = await carrier(t)
  await ours.carry(upstream, releaseName(upstream.release))
  for (const named of [
    [ours.directory],
    ['--from', `file://${ours.directory}`],
    ['--from', ours.directory, '4.18.9'],
  ]) {
    const { origin, document } = await documentOf(...named)
    assert.deepEqual(document, direct)
    assert.equal(origin, `sallyport-v1-000001 in ${ours.directory}`)
  }
  const theirs = await writeOcMirrorArchive(t, { content: cachedContent(upstream) })
  const { document } = await documentOf('--from', theirs.directory, '4.18.9')
  assert.deepEqual(document, direct)
})

test('of several releases one has to be named; an increment is read together with what came before it', async (t) => {
  const upstream = await startUpstream(t, { images: nothing })
  const newer = makeRelease({ version: '4.18.10', revisions: { cli: 'fixed' } })
  await pushAll(testClient(t).client, upstream.registry.address, releaseContent(newer))
  const { directory, carry } = await carrier(t)
  await carry(upstream, releaseName(upstream.release))
  assert.equal(await carry(upstream, releaseName(newer)), 'increment')
  const unnamed = await info(directory)
  assert.equal(unnamed.status, 64)
  assert.match(unnamed.stderr, /there are 2 releases: 4\.18\.9-x86_64, 4\.18\.10-x86_64/)
  assert.equal((await documentOf(directory, '--release', '4.18.10')).document.digest, newer.image.digest)
  // Of archive 2 alone most components are only what the target holds.
  const { document } = await documentOf(`${directory}:2`)
  assert.deepEqual([document.version, document.sizes.unknown], ['4.18.10', 0])
  const unknown = await info(directory, '--release', '4.17.1')
  assert.match(unknown.stderr, /there is no release 4\.17\.1; there is: 4\.18\.9-x86_64, 4\.18\.10-x86_64$/m)
  assert.equal(unknown.status, 1)
  const diff = await info('--from', directory, '4.18.9', '--diff', '4.18.10', '--json')
  assert.equal(JSON.parse(diff.stdout).to.version, '4.18.10')
})

test('a component that is a hole of its archive is named with the reason', async (t) => {
  const upstream = await startUpstream(t, { images: nothing })
  const [first] = upstream.release.components
  assert.ok(first)
  upstream.registry.fault({ path: new RegExp(`manifests/${first.image.digest}`), status: 404 })
  const { directory, carry } = await carrier(t)
  await carry(upstream, releaseName(upstream.release))
  const { status, stdout } = await info(directory)
  assert.equal(status, 1)
  assert.match(
    stdout,
    /^ {2}ARCHIVE_INCOMPLETE: .* is not in the archive: it was not to be had when the archive was made/m,
  )
})

test('with a volume missing, components are told with what they lack of it', async (t) => {
  const upstream = await startUpstream(t, { images: nothing })
  const { directory, carry } = await carrier(t)
  await carry(upstream, releaseName(upstream.release), 32 * 1024)
  const volumes = (await readdir(directory)).filter((name) => name.endsWith('.tar')).sort()
  assert.ok(volumes.length > 2, `${volumes}`)
  const isWhole = await info(directory)
  assert.deepEqual([isWhole.status, isWhole.stdout.includes('could not be had whole')], [0, false])
  await rm(join(directory, volumes[4] ?? ''))
  const { status, stdout } = await info(directory, '--json')
  const problems = JSON.parse(stdout).components.flatMap(({ problem }: { problem?: object }) => problem ?? [])
  assert.equal(status, 1)
  assert.ok(problems.length > 0)
  const codes = new Set(problems.map(({ code }: { code: string }) => code))
  assert.deepEqual(codes, new Set(['ARCHIVE_INCOMPLETE']))
  const lacking = /^[\w-]+: \d+ of its \d+ blobs, \d+ bytes, are missing in the archives$/
  assert.ok(
    problems.some(({ message }: { message: string }) => lacking.test(message)),
    JSON.stringify(problems),
  )
})

const real = fileURLToPath(new URL('../../../shared/data/release/payload-4.12.0/', import.meta.url))

test('the payload of the real 4.12.0, without its components: everything but their sizes is told', async (t) => {
  if (!existsSync(real)) return t.skip('the shared data is not here')
  const upstream = await startUpstream(t, { images: nothing })
  const layer = makeLayer(
    [
      tarFile('release-manifests/image-references', await readFile(`${real}4.12.0-x86_64_image-references.json`)),
      tarFile('release-manifests/release-metadata', await readFile(`${real}4.12.0-x86_64_release-metadata.json`)),
    ],
    mediaTypes.dockerLayerGzip,
  )
  const image = sampleImage({ layers: [layer], mediaTypes: 'docker', tag: '4.12.0-x86_64' })
  const content = [{ repository: releaseSources.images, images: [image] }]
  await pushAll(testClient(t).client, upstream.registry.address, content)
  const { status, stdout } = await info('4.12.0', '--registries-conf', upstream.registriesConf)
  assert.equal(status, 1)
  assert.match(stdout, /^ {2}errata +https:\/\/access\.redhat\.com\/errata\/RHSA-2022:7399$/m)
  assert.match(stdout, /^ {2}kubernetes +1\.25\.4$/m)
  assert.match(stdout, /^ {2}machine-os +412\.86\.202301061548-0 \(Red Hat Enterprise Linux CoreOS\)$/m)
  assert.match(stdout, /^ {2}4\.11 +4\.11\.11 to 4\.11\.14, 4\.11\.16 to 4\.11\.23$/m)
  assert.match(stdout, /^\* etcd +sha256:\w{12} +unknown +github\.com\/openshift\/etcd@\w{8}$/m)
  assert.match(stdout, /^183 of 183 components could not be had whole:$/m)
  // All that 4.12 asks its release image for is in it.
  const bootstrap = await info('4.12.0', '--bootstrap', '--pullspecs', '--registries-conf', upstream.registriesConf)
  assert.match(bootstrap.stdout, /^The bootstrap host pulls 19 images: /)
})

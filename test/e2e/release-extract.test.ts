import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { placeholderOf, type ReleaseMark } from '../../src/release/patch-binary.ts'
import { cachedContent, writeOcMirrorArchive } from '../../testkit/oc-mirror-archive.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { smallDisk } from '../../testkit/small-disk.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import {
  imageSetText,
  releaseName,
  startUpstream,
  type Upstream,
  type UpstreamOptions,
} from '../../testkit/upstream.ts'

const machine = { x64: 'amd64', arm64: 'arm64', ppc64: 'ppc64le', s390x: 's390x' }[process.arch as string] ?? 'amd64'
const other = machine === 'arm64' ? 'amd64' : 'arm64'

/** A program that prints `text`, in which `{image}` and the like are what stands in the places of its file. */
function tool(text: string, marks: readonly ReleaseMark[]): Buffer {
  const values = marks.map((mark) => `${mark}=$(tr '\\0' '\\n' <"$0" | sed -n 's|^@${mark}=\\(linux/\\)\\{0,1\\}||p')`)
  const script = `#!/bin/sh\n${values.join('\n')}\ncat <<END\n${text.replaceAll(/\{(\w+)\}/g, '$$$1')}\nEND\nexit\n`
  return Buffer.concat([
    Buffer.from(script),
    ...marks.flatMap((mark) => [Buffer.from(`\n@${mark}=`), placeholderOf(mark)]),
  ])
}

const installerMarks = ['image', 'version', 'architecture'] as const
const installer = tool(
  '$0 {version}\nbuilt from commit abc\nrelease image {image}\nrelease architecture {architecture}',
  installerMarks,
)
const oc = tool('Client Version: {version}\nKustomize Version: v5.4.2', ['version'])
const ccoctl = tool('OpenShift credentials provisioning tool', [])

const credentialsRequest = (
  name: string,
  kind: string,
  annotations: string,
) => `apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata:
  name: ${name}
  annotations:
    include.release.openshift.io/self-managed-high-availability: "true"
${annotations}spec:
  providerSpec:
    kind: ${kind}
`

const bootImages = `apiVersion: v1
kind: ConfigMap
metadata: { name: coreos-bootimages }
data:
  stream: |
    {"stream": "rhcos-4.18", "architectures": {"x86_64": {"artifacts": {
      "vmware": {"release": "418.1", "formats": {"ova": {"disk": {"location": "https://rhcos.example/418.1/rhcos-vmware.ova", "sha256": "${'ab'.repeat(32)}"}}}},
      "metal": {"release": "418.1", "formats": {"iso": {"disk": {"location": "https://rhcos.example/418.1/rhcos.iso", "sha256": "${'cd'.repeat(32)}"}}}}},
      "images": {"aws": {"regions": {"eu-west-1": {"release": "418.1", "image": "ami-0123"}}}}}}}
`

const release: NonNullable<UpstreamOptions['release']> = {
  architecture: machine,
  layersAbovePayload: 1,
  componentFiles: {
    installer: { 'usr/bin/openshift-install': installer },
    cli: { 'usr/bin/oc': oc },
    'cloud-credential-operator': { 'usr/bin/ccoctl': ccoctl },
    'cli-artifacts': {
      [`usr/share/openshift/linux_${other}/oc`]: oc,
      'usr/share/openshift/mac_arm64/oc': oc,
      'usr/share/openshift/windows/oc.exe': oc,
    },
    'installer-artifacts': { 'usr/share/openshift/mac/openshift-install': installer },
  },
  bootImages,
  manifests: {
    '0000_50_aws.yaml': `${credentialsRequest('usual', 'AWSProviderSpec', '')}---
${credentialsRequest('preview', 'AWSProviderSpec', '    release.openshift.io/feature-set: TechPreviewNoUpgrade\n')}---
${credentialsRequest('storage', 'AWSProviderSpec', '    capability.openshift.io/name: Storage\n')}`,
    '0000_50_azure.yaml': credentialsRequest('azure', 'AzureProviderSpec', ''),
  },
}

interface Site {
  readonly upstream: Upstream
  readonly directory: string
  readonly extract: (...args: string[]) => ReturnType<typeof runCli>
}

async function startSite(t: TestContext, options: UpstreamOptions['release'] = {}): Promise<Site> {
  const upstream = await startUpstream(t, {
    release: { ...release, ...options },
    images: { content: [], additional: [] },
  })
  const directory = await tempDir(t)
  const words = ['--registries-conf', upstream.registriesConf]
  const extract = (...args: string[]) =>
    runCli(['release', 'extract', releaseName(upstream.release), ...words, ...args], { cwd: directory })
  return { upstream, directory, extract }
}

/** Pullspec by digest, as oc writes it. */
function exactName({ release: { image } }: Upstream): string {
  return `quay.io/openshift-release-dev/ocp-release@${image.digest}`
}

test('openshift-install, oc and ccoctl for this machine, told their release, run and confirmed', async (t) => {
  const { upstream, directory, extract } = await startSite(t)
  const { status, stdout, stderr } = await extract('--to', 'bin')
  assert.equal(status, 0, stderr)
  assert.deepEqual((await readdir(join(directory, 'bin'))).toSorted(), ['ccoctl', 'oc', 'openshift-install'])
  for (const name of ['ccoctl', 'oc', 'openshift-install'])
    assert.equal((await stat(join(directory, 'bin', name))).mode & 0o777, 0o755)
  assert.match(stdout, new RegExp(`openshift-install installs ${exactName(upstream)}`))
  assert.match(
    stdout,
    new RegExp(`openshift-install .*runs, and says: image sha256:\\w{12}…, version 4.18.9, architecture ${machine}`),
  )
  assert.match(stdout, /oc .*runs, and says: version 4\.18\.9/)
  assert.match(stdout, /ccoctl .*runs$/m)
  const written = await readFile(join(directory, 'bin', 'openshift-install'), 'latin1')
  assert.ok(written.includes(`@image=${exactName(upstream)}\0`))
  assert.ok(written.includes(`@architecture=linux/${machine}\0`))
})

test('no layer below the one that holds a tool is read', async (t) => {
  const { upstream, extract } = await startSite(t)
  const { status, stderr } = await extract('--command', 'oc')
  assert.equal(status, 0, stderr)
  const cli = upstream.release.components.find(({ name }) => name === 'cli')
  const layers = cli?.image.blobs.slice(0, -1).map(({ descriptor }) => descriptor.digest) ?? []
  const read = upstream.registry.requests
    .map(({ path }) => layers.findIndex((digest) => path.endsWith(digest)))
    .filter((index) => index >= 0)
  assert.ok(layers.length > 1)
  assert.deepEqual(read, [layers.length - 1])
})

test('the installer installs from the mirror that is named, by the same digest', async (t) => {
  const { upstream, directory, extract } = await startSite(t)
  const mirror = 'registry.lab:8443/ocp/openshift/release-images'
  const { status, stderr } = await extract(
    '--command',
    'openshift-install',
    '--release-image',
    `${mirror}:4.18.9-x86_64`,
  )
  assert.equal(status, 0, stderr)
  const written = await readFile(join(directory, 'openshift-install'), 'latin1')
  assert.ok(written.includes(`@image=${mirror}@${upstream.release.image.digest}\0`))
  const wrong = await extract('--release-image', `${mirror}@sha256:${'0'.repeat(64)}`)
  assert.equal(wrong.status, 64)
  assert.match(wrong.stderr, /--release-image names sha256:0/)
})

test('tools for every platform go to a folder for each, and what the release lacks is said', async (t) => {
  const { directory, extract } = await startSite(t)
  const { status, stdout, stderr } = await extract('--tools', '--command-os', '*', '--json')
  assert.equal(status, 0, stderr)
  const { tools, findings } = JSON.parse(stdout)
  const files = tools.map(({ file }: { file: string }) => file.slice(directory.length + 1)).toSorted()
  assert.deepEqual(
    files,
    [
      `linux-${machine}/ccoctl`,
      `linux-${machine}/kubectl`,
      `linux-${machine}/oc`,
      `linux-${machine}/openshift-install`,
      `linux-${other}/kubectl`,
      `linux-${other}/oc`,
      'mac-amd64/openshift-install',
      'mac-arm64/kubectl',
      'mac-arm64/oc',
      'windows-amd64/kubectl.exe',
      'windows-amd64/oc.exe',
    ].toSorted(),
  )
  // The same program under two names is one file.
  const [one, two] = await Promise.all(['oc', 'kubectl'].map((name) => stat(join(directory, 'mac-arm64', name))))
  assert.equal(one?.ino, two?.ino)
  const absent = findings.find(({ summary }: { summary: string }) => /no oc for mac\/amd64/.test(summary))
  assert.match(absent.evidence, /cli-artifacts \(quay\.io\/.*@sha256:\w+\) has no usr\/share\/openshift\/mac\/oc/)
})

test('a tool that the release does not have is an error that names image and path', async (t) => {
  const { directory, extract } = await startSite(t)
  const { status, stderr } = await extract('--command', 'oc', '--command-os', 'mac/amd64')
  assert.equal(status, 1)
  assert.match(stderr, /TOOL_ABSENT.*cli-artifacts .*has no usr\/share\/openshift\/mac\/oc/)
  const unknown = await extract('--command', 'opm')
  assert.equal(unknown.status, 64)
  assert.deepEqual(await readdir(directory), [])
})

test('a tool that says something else than was put into it fails the command', async (t) => {
  const lying = tool(
    '$0 4.18.8\nrelease image quay.io/other@sha256:0\nrelease architecture {architecture}',
    installerMarks,
  )
  const { extract } = await startSite(t, {
    componentFiles: { ...release.componentFiles, installer: { 'usr/bin/openshift-install': lying } },
  })
  const { status, stdout } = await extract()
  assert.equal(status, 1)
  assert.match(stdout, /release\.tool-differs: openshift-install/)
  assert.match(stdout, /version: it says 4\.18\.8, and 4\.18\.9 was put into it/)
  assert.equal((await extract('--no-run', '--to', 'unchecked')).status, 0)
})

test('a binary without a place for the release image is an error, and for the version a warning', async (t) => {
  const old = tool('$0 v4.1.0', [])
  const files = {
    installer: { 'usr/bin/openshift-install': old },
    cli: { 'usr/bin/oc': tool('Client Version: v4.1.0', []) },
  }
  const { extract } = await startSite(t, { componentFiles: { ...release.componentFiles, ...files } })
  const { status, stdout } = await extract()
  assert.equal(status, 1)
  assert.match(stdout, /error release\.mark-absent: openshift-install .* no place for the release image/)
  assert.match(stdout, /warning release\.mark-absent: oc .* no place for the release version/)
  assert.equal((await extract('--command', 'oc', '--to', 'oc-only')).status, 0)
})

test('what is there already is kept when it is the same, and replaced only by force', async (t) => {
  const { directory, extract } = await startSite(t)
  assert.equal((await extract('--command', 'oc')).status, 0)
  const again = await extract('--command', 'oc')
  assert.equal(again.status, 0)
  assert.match(again.stdout, /was there already/)
  await writeFile(join(directory, 'oc'), 'mine')
  const refused = await extract('--command', 'oc')
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /FILE_EXISTS.*oc is there already/)
  assert.equal(await readFile(join(directory, 'oc'), 'utf8'), 'mine')
  assert.equal((await extract('--command', 'oc', '--force')).status, 0)
  assert.deepEqual(await readdir(directory), ['oc'])
})

test('the tools come out of an archive as well, for the mirror that it is loaded into', async (t) => {
  const { upstream, directory, extract } = await startSite(t)
  await writeFile(join(directory, 'isc.yaml'), imageSetText({ release: releaseName(upstream.release) }))
  const words = ['-c', 'isc.yaml', '--registries-conf', upstream.registriesConf, 'file://usb']
  const mirrored = await runCli(['mirror', '--ignore-release-signature', ...words], { cwd: directory })
  assert.equal(mirrored.status, 0, mirrored.stdout + mirrored.stderr)
  const carried = ['release', 'extract', '--from', 'usb', '--to', 'bin', '--command', 'openshift-install']
  const { status, stdout, stderr } = await runCli(carried, { cwd: directory })
  assert.equal(status, 0, stderr)
  assert.match(stdout, new RegExp(`openshift-install installs ${exactName(upstream)}`))
  await extract('--command', 'openshift-install', '--to', 'online')
  const [one, other] = await Promise.all(
    ['bin', 'online'].map((to) => readFile(join(directory, to, 'openshift-install'))),
  )
  assert.ok(one && other && one.equals(other))
})

test('the tools come out of what oc-mirror wrote', async (t) => {
  const { upstream, directory } = await startSite(t)
  const carried = await writeOcMirrorArchive(t, { content: cachedContent(upstream) })
  const words = ['--from', carried.directory, '--command', 'openshift-install']
  const { status, stderr } = await runCli(['release', 'extract', ...words], { cwd: directory })
  assert.equal(status, 0, stderr)
  const written = await readFile(join(directory, 'openshift-install'), 'latin1')
  assert.ok(written.includes(`@image=${exactName(upstream)}\0`))
})

test('a full disk leaves nothing half written', async (t) => {
  const big = Buffer.concat([oc, Buffer.alloc(600_000, 7)])
  const { extract } = await startSite(t, { componentFiles: { ...release.componentFiles, cli: { 'usr/bin/oc': big } } })
  const disk = await smallDisk(t, 300_000)
  if (!disk) return
  await mkdir(join(disk.path, 'bin'))
  const full = await extract('--command', 'oc', '--to', join(disk.path, 'bin'))
  assert.equal(full.status, 1)
  assert.match(full.stderr, /DISK_FULL/)
  assert.deepEqual(await readdir(join(disk.path, 'bin')), [])
})

test('a layer with other bytes than its digest says gives no tool', async (t) => {
  const { upstream, directory, extract } = await startSite(t)
  const cli = upstream.release.components.find(({ name }) => name === 'cli')
  const layer = cli?.image.blobs.at(-2)?.descriptor.digest ?? ''
  upstream.registry.fault({
    path: new RegExp(layer),
    change: (body) => Buffer.concat([body.subarray(0, -9), Buffer.alloc(9)]),
  })
  const { status, stderr } = await extract('--command', 'oc', '--retry-times', '0')
  assert.equal(status, 1)
  assert.match(stderr, /BLOB_DIGEST_MISMATCH/)
  assert.deepEqual(await readdir(directory), [])
})

test('CredentialsRequests are those that the install-config asks for', async (t) => {
  const { directory, extract } = await startSite(t)
  const config = join(directory, 'install-config.yaml')
  await writeFile(
    config,
    'apiVersion: v1\nplatform: {aws: {}}\ncapabilities: {baselineCapabilitySet: None}\ncredentialsMode: Manual\n',
  )
  const words = ['--credentials-requests', '--included', '--install-config', 'install-config.yaml', '--to', 'creds']
  const { status, stdout, stderr } = await extract(...words)
  assert.equal(status, 0, stderr)
  assert.deepEqual(await readdir(join(directory, 'creds')), ['0000_50_aws.yaml'])
  const text = await readFile(join(directory, 'creds', '0000_50_aws.yaml'), 'utf8')
  assert.deepEqual(
    [...text.matchAll(/^ {2}name: (\w+)$/gm)].map(([, name]) => name),
    ['usual'],
  )
  assert.match(stdout, /left out: preview: it is for the feature set TechPreviewNoUpgrade/)
  assert.match(stdout, /left out: storage: the capability Storage is not enabled/)
  const all = await extract('--credentials-requests', '--cloud', 'azure', '--to', 'azure')
  assert.deepEqual(await readdir(join(directory, 'azure')), ['0000_50_azure.yaml'])
  assert.match(all.stdout, /--included --install-config/)
  const contrary = await extract(...words, '--cloud', 'gcp')
  assert.equal(contrary.status, 64)
  assert.match(contrary.stderr, /--cloud says gcp, and install-config\.yaml is for aws/)
})

test('manifests are written as they are, and one file is printed', async (t) => {
  const { upstream, directory, extract } = await startSite(t)
  assert.equal((await extract('--manifests', '--to', 'all')).status, 0)
  // The layer with the manifests, the one above it, and the config.
  assert.equal(upstream.registry.requests.filter(({ path }) => path.includes('/blobs/')).length, 3)
  const names = await readdir(join(directory, 'all'))
  assert.ok(names.includes('image-references') && names.includes('0000_50_azure.yaml'))
  assert.equal(
    await readFile(join(directory, 'all', '0000_50_azure.yaml'), 'utf8'),
    release.manifests?.['0000_50_azure.yaml'],
  )
  const { stdout } = await extract('--file', '0000_50_azure.yaml')
  assert.equal(stdout, release.manifests?.['0000_50_azure.yaml'])
  assert.equal((await extract('--file', '../passwd')).status, 64)
})

test('the stream metadata, and the boot images to carry with the stanza that carries them', async (t) => {
  const { extract } = await startSite(t)
  assert.equal(JSON.parse((await extract('--stream')).stdout).stream, 'rhcos-4.18')
  const { stdout } = await extract('--boot-images', '--platform', 'vmware', '--arch', 'amd64')
  assert.match(
    stdout,
    /mirror:\n {2}files:\n {2}- url: https:\/\/rhcos.example\/418.1\/rhcos-vmware.ova\n {4}sha256: (?:ab){32}\n/,
  )
  assert.doesNotMatch(stdout, /rhcos\.iso/)
  assert.match((await extract('--boot-images', '--platform', 'aws', '--arch', 'amd64')).stdout, /eu-west-1 {2}ami-0123/)
  const none = await extract('--boot-images', '--platform', 'nutanix', '--arch', 'amd64')
  assert.equal(none.status, 64)
  assert.match(none.stderr, /aws, metal, vmware/)
})

test('flags that contradict each other, or have no effect, are refused', async (t) => {
  const { extract } = await startSite(t)
  for (const flags of [
    ['--tools', '--manifests'],
    ['--included'],
    ['--credentials-requests', '--cloud', 'mars'],
    ['--command-os', 'plan9'],
  ])
    assert.equal((await extract(...flags)).status, 64, flags.join(' '))
})

import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import bcrypt from 'bcryptjs'
import { hexOf } from '../../src/oci/digest.ts'
import { testCertificate } from '../../testkit/certificates.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { makeImage } from '../../testkit/image.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { type ScriptedRegistry, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { imageSetText, releaseName, startUpstream, type Upstream } from '../../testkit/upstream.ts'

const password = 'only-for-this-test'

interface Files {
  readonly root: string
  readonly config: string
  readonly authFile: string
  readonly ca: string
}

/** A registry with TLS and a password, and the files that a user of it has. */
async function closedRegistry(t: TestContext, upstream: Upstream) {
  const root = await tempDir(t)
  const { tls, ca } = await testCertificate(t)
  await writeFile(join(root, 'users'), `lab:${bcrypt.hashSync(password, 4)}\n`, { mode: 0o600 })
  const registry = await startEmbeddedRegistry(t, {
    tls: { certificate: tls.cert, key: tls.key },
    htpasswd: join(root, 'users'),
  })
  const files: Files = {
    root,
    config: join(root, 'isc.yaml'),
    authFile: join(root, 'auth.json'),
    ca: join(root, 'ca.crt'),
  }
  await writeFile(files.ca, ca)
  const { release, additional } = upstream
  await writeFile(files.config, imageSetText({ release: releaseName(release), additional }))
  return { registry, files }
}

/** As `podman login HOST/ocp` writes it: the key is a path within the registry. */
async function writeAuthFile(files: Files, key: string): Promise<void> {
  const auth = Buffer.from(`lab:${password}`).toString('base64')
  await writeFile(files.authFile, JSON.stringify({ auths: { [key]: { auth } } }), { mode: 0o600 })
}

async function textsBelow(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n')
}

test('into a registry with TLS and a password: mirror, verify mirror and verify egress, and no output has the password', async (t) => {
  const upstream = await startUpstream(t)
  const { registry, files } = await closedRegistry(t, upstream)
  await writeAuthFile(files, `${registry.address}/ocp`)
  const access = ['--authfile', files.authFile, '--ca', files.ca]
  const workspace = ['--workspace', `file://${files.root}/work`]
  const destination = `docker://${registry.address}/ocp`
  const events = join(files.root, 'events.ndjson')
  const from = ['--registries-conf', upstream.registriesConf]
  const common = [...workspace, ...access, '--log-level', 'trace']
  const mirror = ['mirror', '-c', files.config, '--ignore-release-signature', ...common, ...from, destination]

  const dry = await runCli([...mirror, '--dry-run'])
  assert.equal(dry.status, 0, dry.stderr)
  assert.match(dry.stdout, /would mirror to .*\n {2}images {5}23 images, 0 there already\n {2}bytes/)
  const done = await runCli([...mirror, '--events', events, '--json'])
  assert.equal(done.status, 0, done.stderr)
  assert.equal(JSON.parse(done.stdout).exitStatus, 0)
  assert.match(await readFile(events, 'utf8'), /"type":"manifest\.arrived"/)
  const verify = await runCli(['verify', 'mirror', ...common, '--deep'])
  assert.equal(verify.status, 0, verify.stdout + verify.stderr)
  assert.match(verify.stdout, /^complete: everything that was mirrored is at/)
  await upstream.registry.close()
  const egress = await runCli(['verify', 'egress', ...common])
  assert.equal(egress.status, 0, egress.stdout + egress.stderr)
  assert.match(egress.stdout, /^closed: none of \d+ image references would be pulled from outside/)

  const printed = [dry, done, verify, egress].map(({ stdout, stderr }) => stdout + stderr).join('\n')
  const everything = printed + (await textsBelow(join(files.root, 'work'))) + (await readFile(events, 'utf8'))
  const secrets = [password, Buffer.from(`lab:${password}`).toString('base64')]
  for (const secret of secrets) assert.ok(!everything.includes(secret), 'a password was printed')
})

test('without the right to a path nothing is begun, and the message names registry, status and what to do', async (t) => {
  const upstream = await startUpstream(t, { images: { content: [], additional: [] } })
  const { registry, files } = await closedRegistry(t, upstream)
  await writeAuthFile(files, `${registry.address}/another`)
  const access = ['--authfile', files.authFile, '--ca', files.ca, '--registries-conf', upstream.registriesConf]
  const args = ['mirror', '-c', files.config, '--workspace', join(files.root, 'work'), ...access]
  const result = await runCli([...args, `docker://${registry.address}/ocp`])
  assert.equal(result.status, 1)
  assert.match(
    result.stderr,
    new RegExp(`REGISTRY_UNAUTHORIZED[\\s\\S]*${registry.address}[\\s\\S]*401[\\s\\S]*--authfile`),
  )
  assert.ok(!result.stderr.includes(password))
})

interface Damage {
  readonly what: string
  readonly id: string
  /** Damages the target, and says what the finding must name. */
  readonly damage: (target: ScriptedRegistry, upstream: Upstream) => string
  readonly isDeep?: boolean
}

const damages: readonly Damage[] = [
  {
    what: 'a tag that is gone',
    id: 'mirror.image-missing',
    damage: ({ content }) => removed(content.tags, 'ocp/extra/list:2'),
  },
  {
    what: 'a signature that is gone',
    id: 'mirror.image-missing',
    damage: ({ content }) => removed(content.tags, [...content.tags.keys()].find((tag) => tag.endsWith('.sig')) ?? ''),
  },
  {
    what: 'a tag that names another image',
    id: 'mirror.image-changed',
    damage: (target) => {
      const other = makeImage({ seed: 'other' }).manifests[0]
      assert.ok(other)
      target.addManifest('ocp/extra/list', JSON.parse(Buffer.from(other.bytes).toString('utf8')), '2')
      return 'ocp/extra/list:2'
    },
  },
  {
    what: 'the manifest of one platform that is gone',
    id: 'mirror.manifest-missing',
    damage: ({ content }, { content: seeded }) =>
      removed(content.manifests, `ocp/extra/list@${imageOf(seeded, 'extra/list').manifests[0]?.descriptor.digest}`),
  },
  {
    what: 'a referrer of a referrer that is gone',
    id: 'mirror.image-missing',
    damage: ({ content }, { content: seeded }) =>
      removed(content.manifests, `ocp/extra/subject@${imageOf(seeded, 'extra/subject', 2).digest}`),
  },
  {
    what: 'a blob that is gone',
    id: 'mirror.blob-missing',
    damage: ({ content }, { content: seeded }) => {
      const digest = imageOf(seeded, 'deep/er/zstd').blobs[0]?.descriptor.digest ?? ''
      content.links.delete(`ocp/deep/er/zstd@${digest}`)
      return digest
    },
  },
  {
    what: 'a blob that was cut',
    id: 'mirror.blob-size',
    damage: ({ content }, { content: seeded }) =>
      changed(content.blobs, imageOf(seeded, 'deep/er/zstd'), (b) => b.subarray(1)),
  },
  {
    what: 'a blob with one wrong byte',
    id: 'mirror.blob-changed',
    isDeep: true,
    damage: ({ content }, { content: seeded }) =>
      changed(content.blobs, imageOf(seeded, 'deep/er/zstd'), (b) => Buffer.from(b).fill(0, 0, 1)),
  },
]

function removed(map: Map<string, unknown>, key: string): string {
  assert.ok(map.delete(key), `${key} was there`)
  return key
}

function imageOf(content: Upstream['content'], wanted: string, index = 0) {
  const image = content.find(({ repository }) => repository === wanted)?.images[index]
  assert.ok(image)
  return image
}

function changed(
  blobs: Map<string, Uint8Array>,
  image: ReturnType<typeof imageOf>,
  change: (bytes: Uint8Array) => Uint8Array,
): string {
  const digest = image.blobs[0]?.descriptor.digest ?? ''
  blobs.set(digest, change(blobs.get(digest) ?? new Uint8Array()))
  return digest
}

test('verify mirror finds and names every kind of damage', async (t) => {
  const upstream = await startUpstream(t, { release: { components: 2 } })
  const { registriesConf, additional, release } = upstream
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const workspace = await tempDir(t)
  const config = imageSetText({ release: releaseName(release), additional })
  await runMirror(t, { config, target: `docker://${target.address}/ocp`, registriesConf, workspace })
  const { content } = target
  const whole = {
    tags: [...content.tags],
    manifests: [...content.manifests],
    links: [...content.links],
    blobs: [...content.blobs],
  }
  for (const { what, id, damage, isDeep } of damages) {
    await t.test(what, async () => {
      const named = damage(target, upstream)
      const args = ['verify', 'mirror', '--workspace', workspace, '--dest-tls-verify=false', '--json']
      if (isDeep) assert.equal((await runCli(args)).status, 0, 'its size is right: only --deep sees it')
      const result = await runCli(isDeep ? [...args, '--deep'] : args)
      assert.equal(result.status, 1, result.stdout + result.stderr)
      assertFound(result, id, named)
      for (const [tag, digest] of whole.tags) content.tags.set(tag, digest)
      for (const [name, manifest] of whole.manifests) content.manifests.set(name, manifest)
      for (const [digest, bytes] of whole.blobs) content.blobs.set(digest, bytes)
      for (const link of whole.links) content.links.add(link)
    })
  }
  const clean = await runCli(['verify', 'mirror', '--workspace', workspace, '--dest-tls-verify=false', '--deep'])
  assert.equal(clean.status, 0, clean.stdout + clean.stderr)
})

function assertFound({ stdout }: CliResult, id: string, named: string): void {
  const { findings } = JSON.parse(stdout) as { findings: { id: string; summary: string; remedy: string }[] }
  const wanted = named.includes('@') ? `${named.split('@')[0]}` : named
  const found = findings.find((finding) => finding.id === id && finding.summary.includes(wanted))
  assert.ok(found, `${id} ${named} is not in ${stdout}`)
  assert.ok(found.remedy)
}

test('verify egress finds an image that no mirror has, one that is in no resource, and one that is named by tag only', async (t) => {
  const upstream = await startUpstream(t, { release: { components: 2 } })
  const { registriesConf, release, content } = upstream
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const workspace = await tempDir(t)
  const config = imageSetText({ release: releaseName(release) })
  await runMirror(t, { config, target: `docker://${target.address}/ocp`, registriesConf, workspace })
  const component = imageOf(content, 'openshift-release-dev/ocp-v4.0-art-dev')
  target.content.manifests.delete(`ocp/openshift/release@${component.digest}`)
  const list = join(workspace, 'images.txt')
  const byTag = 'quay.io/openshift-release-dev/ocp-v4.0-art-dev:latest'
  await writeFile(list, `registry.redhat.io/ubi9/ubi@sha256:${hexOf(component.digest)}  # in no resource\n\n${byTag}\n`)
  const args = ['verify', 'egress', '--workspace', workspace, '--dest-tls-verify=false', '--images', list]
  const result = await runCli([...args, '--json'])
  assert.equal(result.status, 1, result.stderr)
  assertFound(result, 'egress.mirror-lacks-image', component.digest)
  assertFound(result, 'egress.leaves-network', 'registry.redhat.io/ubi9/ubi')
  assertFound(result, 'egress.leaves-network', byTag)
  assert.equal(JSON.parse(result.stdout).findings.length, 3)
  const people = await runCli(args)
  assert.match(people.stdout, /^open: 3 of 5 image references would leave the network or find nothing/)
})

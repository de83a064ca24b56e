/**
 * The same configs to us and to `ignition-apply`: the same verdict and the same tree.
 *
 * Debian's is Ignition 2.14, which differs from the newest (whose ways are ours) in two things: the lines of its preset file are
 * in no order, and it enables instances of templates only after it has asked a running systemd. It works only for root.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chown, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { KnownError } from '../../src/errors/known-error.ts'
import type { IgnitionConfig } from '../../src/ignition/config.ts'
import { readIgnitionConfig } from '../../src/ignition/read-config.ts'
import { readValidConfig } from '../../src/ignition/valid-config.ts'
import { materialise } from '../../src/rehearse/materialise/materialise.ts'
import { listTree } from '../../testkit/file-tree.ts'
import { ignitionApply } from '../../testkit/ignition-apply.ts'
import { peer } from '../../testkit/peers.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const presetFile = 'etc/systemd/system-preset/20-ignition.preset'

/** A system that something is written into: accounts, links of both kinds, files that are there already. */
async function makeSystem(root: string): Promise<void> {
  for (const folder of ['etc/systemd/system', 'var/home/deep', 'opt/full/below', 'usr/lib'])
    await mkdir(join(root, folder), { recursive: true })
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/bash\ncore:x:1000:1001::/home/core:/bin/bash\n')
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nwheel:x:10:core\n')
  await writeFile(join(root, 'etc/hosts'), '127.0.0.1 localhost\n', { mode: 0o600 })
  await writeFile(join(root, 'opt/full/below/file'), 'old')
  await symlink('var/home', join(root, 'home'))
  await symlink('/var/home', join(root, 'absolute'))
  await symlink('../../../../../usr', join(root, 'opt/out'))
  await symlink('hosts', join(root, 'etc/hosts-link'))
  await symlink('/dev/null', join(root, 'etc/systemd/system/masked.service'))
  await chown(join(root, 'var/home/deep'), 1000, 1001)
}

interface Comparison {
  readonly isAccepted: boolean
  readonly entries: number
}

async function comparing(t: TestContext): Promise<((config: IgnitionConfig) => Promise<Comparison>) | undefined> {
  if (process.getuid?.() !== 0) {
    t.skip('ignition-apply gives every file to its owner, and works only for root')
    return undefined
  }
  const program = peer(t, 'ignition')
  if (program === undefined) return undefined
  const folder = await tempDir(t)
  const apply = await ignitionApply(program, folder)
  await makeSystem(join(folder, 'system'))
  return async (config) => {
    const [theirs, ours] = [join(folder, 'theirs'), join(folder, 'ours')]
    for (const root of [theirs, ours]) {
      await rm(root, { recursive: true, force: true })
      await cp(join(folder, 'system'), root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: false })
      await chown(join(root, 'var/home/deep'), 1000, 1001)
    }
    const { isAccepted, log } = await apply.apply(config, theirs)
    const failure = await failureOf(config, ours)
    assert.equal(failure === undefined, isAccepted, failure ?? log)
    if (!isAccepted) return { isAccepted, entries: 0 }
    await sortLines(join(theirs, presetFile))
    const tree = await listTree(theirs, { withOwners: true })
    assert.deepEqual(await listTree(ours, { withOwners: true }), tree)
    return { isAccepted, entries: Object.keys(tree).length }
  }
}

async function failureOf(written: IgnitionConfig, root: string): Promise<string | undefined> {
  try {
    const { config } = readValidConfig(JSON.stringify(written), 'generated.ign')
    const options = { owners: 'apply', isIntoExisting: true } as const
    await materialise(config, root, { ...options, signal: AbortSignal.timeout(60_000) })
    return undefined
  } catch (error) {
    if (error instanceof KnownError) return error.message
    throw error
  }
}

async function sortLines(path: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text !== undefined)
    await writeFile(
      path,
      text
        .split(/(?<=\n)/)
        .sort()
        .join(''),
    )
}

const realConfigs = '../shared/data/installer/ign'

test('real bootstrap configs make the same tree', async (t) => {
  const names = await readdir(realConfigs).catch(() => undefined)
  if (!names) return t.skip(`${realConfigs} is not here`)
  const compare = await comparing(t)
  if (!compare) return
  const compared: string[] = []
  for (const name of names) {
    const { config, version } = readIgnitionConfig(await readFile(join(realConfigs, name), 'utf8'), name)
    // Of an older specification it reads none, and what is not in the file it may not fetch.
    if (version.startsWith('2.') || config.ignition.config?.merge?.length) continue
    // It makes no users.
    const { passwd: _, ...parts } = config
    for (const own of ['3.1.0', '3.2.0', '3.3.0']) {
      const { isAccepted, entries } = await compare({ ...parts, ignition: { ...config.ignition, version: own } })
      assert.ok(isAccepted && entries > 120, name)
    }
    compared.push(name)
  }
  assert.ok(compared.length >= 2, compared.join())
})

const word = fc.stringMatching(/^[a-z0-9 %#\n\u00e4]{0,12}$/)
const paths = [
  '/etc/hosts',
  '/etc/hosts-link',
  '/etc/new',
  '/etc/deep/er/new',
  '/home/file',
  '/home/deep/file',
  '/absolute/other',
  '/opt/full',
  '/opt/full/below/file',
  '/opt/full/new',
  '/opt/out/lib/file',
  '/root/.docker/config.json',
  '/var/a',
  '/var/a/b',
  '/var/a/b/c',
  '/z',
]

const resource = fc
  .record({ text: word, isGzip: fc.boolean(), isHashed: fc.boolean(), isBase64: fc.boolean() })
  .map(({ text, isGzip, isHashed, isBase64 }) => {
    const plain = Buffer.from(text)
    const bytes = isGzip ? gzipSync(plain) : plain
    const encoded = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    return {
      source: isBase64 ? `data:text/plain;base64,${bytes.toString('base64')}` : `data:,${encoded}`,
      ...(isGzip && { compression: 'gzip' }),
      ...(isHashed && { verification: { hash: `sha512-${createHash('sha512').update(plain).digest('hex')}` } }),
    }
  })

const owner = (name: string) =>
  fc.oneof(fc.constant(undefined), fc.constant({ id: 1000 }), fc.constant({ name }), fc.constant({ name: 'root' }))
const ownedBy = { user: owner('core'), group: owner('wheel') }
const overwrite = fc.constantFrom(undefined, true, true, true, true, false)
const mode = fc.constantFrom(undefined, 0o600, 0o755, 0o444, 0o1777)

const target = fc.constantFrom('hosts', '/etc/hosts', '../nowhere', '/home/deep', 'deep', '/etc/new')
const link = fc.record({ target, hard: fc.constantFrom(undefined, undefined, undefined, true), overwrite })

/** Without contents nothing may be overwritten. */
const file = fc
  .record({
    contents: fc.option(resource, { nil: undefined }),
    append: fc.array(resource, { maxLength: 2 }),
    mode,
    overwrite,
  })
  .map((parts) => (parts.contents ? parts : { ...parts, overwrite: undefined }))

function nodes(own: readonly string[], parts: fc.Arbitrary<object>) {
  const node = (path: string) => fc.tuple(fc.record({ path: fc.constant(path), ...ownedBy }), parts)
  return fc.tuple(...own.map((path) => node(path).map(([one, other]) => ({ ...one, ...other }))))
}

const storage = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...paths), { maxLength: 7 }),
    fc.array(fc.nat(3), { minLength: 7, maxLength: 7 }),
  )
  .chain(([chosen, kinds]) => {
    const of = (...wanted: number[]) => chosen.filter((_, index) => wanted.includes(kinds[index] ?? 0))
    const isAbove = (path: string) => paths.some((other) => other.startsWith(`${path}/`))
    return fc.record({
      files: nodes([...of(0, 1), ...of(3).filter(isAbove)], file),
      directories: nodes(of(2), fc.record({ mode, overwrite })),
      // Below a link nothing else may be.
      links: nodes(
        of(3).filter((path) => !isAbove(path)),
        link,
      ),
    })
  })

const contents = fc.constantFrom(
  undefined,
  '',
  '[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n',
)
const unit = fc.record({
  name: fc.constantFrom('one.service', 'two.socket', 'masked.service', 'template@.service'),
  enabled: fc.constantFrom(undefined, true),
  mask: fc.constantFrom(undefined, undefined, true, false),
  contents,
  dropins: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('10-a.conf', '20-b.conf'),
      contents: fc.constantFrom(undefined, '', '[Unit]\n'),
    }),
    { selector: ({ name }) => name, maxLength: 2 },
  ),
})
const units = fc
  .uniqueArray(unit, { selector: ({ name }) => name, maxLength: 3 })
  // A template that is enabled is asked for at systemd.
  .map((all) => all.map((one) => (one.name.includes('@') ? { ...one, enabled: undefined } : one)))

const single = fc.record({ version: fc.constantFrom('3.0.0', '3.1.0', '3.2.0', '3.3.0'), storage, units }).map(
  (parts) =>
    // Undefined fields go.
    JSON.parse(
      JSON.stringify({
        ignition: { version: parts.version },
        storage: parts.storage,
        systemd: { units: parts.units },
      }),
    ) as IgnitionConfig,
)

const withChildren = fc
  .tuple(single, fc.array(single, { maxLength: 2 }), fc.boolean())
  .map(([parent, children, isReplaced]) => {
    const [first, ...others] = children.map((child) => ({
      source: `data:;base64,${Buffer.from(JSON.stringify(child)).toString('base64')}`,
    }))
    if (first === undefined) return parent
    const config = isReplaced ? { replace: first } : { merge: [first, ...others] }
    return { ...parent, ignition: { ...parent.ignition, config } }
  })

test('generated configs, with children and in a system with files and links, have the same verdict and make the same tree', async (t) => {
  const compare = await comparing(t)
  if (!compare) return
  const counts = { accepted: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(withChildren, async (config) => {
      const { isAccepted } = await compare(config)
      counts[isAccepted ? 'accepted' : 'refused'] += 1
    }),
    { numRuns: Number(process.env['SALLYPORT_APPLY_RUNS'] ?? 120) },
  )
  t.diagnostic(`${counts.accepted} accepted, ${counts.refused} refused by both`)
  assert.ok(counts.accepted > 20 && counts.refused > 5, JSON.stringify(counts))
})

test('a link that comes to its end by an absolute one belongs to root, as one that is absolute itself', async (t) => {
  const compare = await comparing(t)
  if (!compare) return
  const links = [
    { path: '/etc/hosts', target: '/home/deep', overwrite: true, user: { name: 'root' }, group: { name: 'root' } },
    { path: '/etc/hosts-link', target: 'hosts', overwrite: true },
  ]
  const { isAccepted } = await compare({ ignition: { version: '3.0.0' }, storage: { links } })
  assert.ok(isAccepted)
})

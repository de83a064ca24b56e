/** Damage of every kind on the way over the gap, each mended by parity, and by a repair list and the archive that answers it. */
import assert from 'node:assert/strict'
import { copyFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { historyDirectories, readHistory } from '../../src/archive/history/archive-history.ts'
import { findArchives } from '../../src/archive/read/find-archives.ts'
import { parseRepairList, type RepairList, renderRepairList } from '../../src/archive/repair/repair-list.ts'
import { requestRepair } from '../../src/archive/repair/requested-repair.ts'
import { writeParity } from '../../src/archive/repair/write-parity.ts'
import { type ArchiveVerification, verifyArchive } from '../../src/archive/verify/verify-archive.ts'
import { repairDirectory } from '../../src/flows/repair-directory.ts'
import { digestOf } from '../../src/oci/digest.ts'
import { closedSide, connectedSide } from '../../testkit/archive-trip.ts'
import { snapshotRegistry } from '../../testkit/registry-snapshot.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const signal = new AbortController().signal
/** Eight volumes: the index and a part of the plan in the first, manifests in the last. */
const volumeBytes = 64 * 1024

interface Damage {
  readonly what: string
  /** A pattern that a finding has to match. */
  readonly named: RegExp
  readonly apply: (volumes: readonly string[]) => Promise<void>
  /** Documents of the index that are asked for. Without the record nobody can prove the other two. */
  readonly records?: readonly string[]
}

async function flip(path: string, offset: number): Promise<void> {
  const bytes = await readFile(path)
  const at = offset < 0 ? bytes.length + offset : offset
  bytes[at] = (bytes[at] ?? 0) ^ 0x40
  await writeFile(path, bytes)
}

function at(volumes: readonly string[], index: number): string {
  return volumes.at(index) ?? assert.fail(`no volume ${index}`)
}

const damages: readonly Damage[] = [
  { what: 'a flipped byte in a blob', named: /-0002\.tar, bytes .* is damaged/, apply: (v) => flip(at(v, 1), 40_000) },
  {
    what: 'a flipped byte in archive.json',
    named: /-0001\.tar.*archive\.json is damaged/,
    apply: (v) => flip(at(v, 0), 1600),
    records: ['sallyport/archive.json', 'sallyport/blobs.txt', 'sallyport/plan.json'],
  },
  {
    what: 'a flipped byte in the header before the index',
    named: /-0001\.tar, byte 1030: header of sallyport\/archive\.json/,
    apply: (v) => flip(at(v, 0), 1030),
  },
  {
    what: 'a flipped byte in blobs.txt',
    named: /-0001\.tar.*blobs\.txt is damaged/,
    apply: (v) => flip(at(v, 0), 20_000),
    records: ['sallyport/blobs.txt'],
  },
  {
    what: 'a flipped byte in the plan',
    named: /-0002\.tar.*plan\.json is damaged/,
    apply: (v) => flip(at(v, 1), 2000),
    records: ['sallyport/plan.json'],
  },
  {
    what: 'a flipped byte in the index of the image layout',
    named: /-0008\.tar.*index\.json/,
    apply: (v) => flip(at(v, -1), 36_000),
  },
  {
    what: 'flipped bytes in three volumes',
    named: /-0005\.tar.*is damaged/,
    apply: async (v) => {
      for (const index of [3, 4, 6]) await flip(at(v, index), 30_000)
    },
  },
  {
    what: 'a flipped byte in a volume record',
    named: /-0003\.tar, byte 700: sallyport\/volume\.json/,
    apply: (v) => flip(at(v, 2), 700),
  },
  { what: 'a flipped byte in the end record', named: /end\.json/, apply: (v) => flip(at(v, -1), -1024 - 3000) },
  { what: 'a cut volume', named: /-0004\.tar, bytes .* cut/, apply: (v) => truncate(at(v, 3), 30_001) },
  { what: 'a missing volume', named: /-0004\.tar: the volume is not there/, apply: (v) => rm(at(v, 3)) },
  {
    what: 'a missing first volume',
    named: /-0001\.tar: the volume is not there/,
    apply: (v) => rm(at(v, 0)),
    records: ['sallyport/archive.json', 'sallyport/blobs.txt', 'sallyport/plan.json'],
  },
  { what: 'a missing last volume', named: /not there|no end/, apply: (v) => rm(at(v, -1)) },
  {
    what: 'missing first and last volumes, and a flipped byte between them',
    named: /-0001\.tar: the volume is not there/,
    apply: async (v) => {
      await rm(at(v, 0))
      await flip(at(v, 1), 40_000)
      await rm(at(v, -1))
    },
    records: ['sallyport/archive.json', 'sallyport/blobs.txt', 'sallyport/plan.json'],
  },
]

async function digestsIn(directory: string): Promise<Record<string, string>> {
  const files = (await readdir(directory)).filter((file) => !file.includes('-repair-')).sort()
  const entries = files.map(async (file) => [file, digestOf(await readFile(join(directory, file)))] as const)
  return Object.fromEntries(await Promise.all(entries))
}

async function copyOf(t: TestContext, directory: string, filter = (_: string) => true): Promise<string> {
  const copy = await tempDir(t)
  for (const file of await readdir(directory)) if (filter(file)) await copyFile(join(directory, file), join(copy, file))
  return copy
}

async function verify(directory: string): Promise<ArchiveVerification> {
  const beside = await findArchives(directory)
  return verifyArchive(beside.find(({ isRepair }) => !isRepair) ?? assert.fail('no archive'), { beside })
}

function errors({ findings }: ArchiveVerification): readonly string[] {
  return findings.filter(({ severity }) => severity === 'error').map(({ summary }) => summary)
}

/** What another program hands over: the text of a list, parsed again. */
function carried(list: RepairList): RepairList {
  return parseRepairList(renderRepairList(list), 'list')
}

test('an archive that lost its end is loaded through a repair, and the load counts', async (t) => {
  const connected = await connectedSide(t)
  const origin = await tempDir(t)
  const { archive } = await connected.mirror(origin, volumeBytes)
  assert.ok(archive)
  await rm(archive.files.at(-1) ?? '')
  await connected.repair(origin, carried(await requestRepair(await verify(origin), { signal })))
  const closed = await closedSide(t)
  await closed.load(origin)
  const loaded = await readHistory(
    historyDirectories(closed.workspace.state).loaded,
    `${closed.registry.address}/closed`,
  )
  assert.deepEqual(
    loaded.archives.map(({ id, checksum, volumes, missing }) => ({ id, checksum, volumes, missing })),
    [{ id: archive.id, checksum: archive.checksum, volumes: archive.files.length, missing: [] }],
  )
})

test('damage of every kind is named, and mended byte for byte', { timeout: 300_000 }, async (t) => {
  const connected = await connectedSide(t)
  const origin = await tempDir(t)
  const { archive } = await connected.mirror(origin, volumeBytes)
  assert.ok(archive && archive.files.length === 8)
  await writeParity(origin, 'sallyport-v1-000001', 3, { signal })
  const whole = await digestsIn(origin)
  const isVolume = (file: string) => !file.includes('parity')
  const wholeVolumes = Object.fromEntries(Object.entries(whole).filter(([file]) => isVolume(file)))
  const reference = await loadAll(t, origin)

  for (const [index, { what, named, apply, records = [] }] of damages.entries()) {
    await t.test(`${what}: by parity`, async (t) => {
      const directory = await damagedCopy(t, { origin, apply })
      assert.match(errors(await verify(directory)).join('\n'), named)
      const [repair] = await repairDirectory(directory, { signal })
      assert.ok(repair?.parity?.volumes.every(({ lostBytes }) => lostBytes === 0))
      assert.deepEqual(repair?.verification?.findings, [])
      assert.deepEqual(await digestsIn(directory), whole)
    })

    await t.test(`${what}: by carrying again`, async (t) => {
      const directory = await damagedCopy(t, { origin, apply, filter: isVolume })
      const list = carried(await requestRepair(await verify(directory), { signal }))
      assert.equal(list.archive.id, archive.id)
      assert.deepEqual(list.records, records)
      const isNothingAsked = list.blobs.length + list.volumes.length + list.records.length === 0
      if (!isNothingAsked) {
        // In the directory of the damaged archive, or without anything of it.
        const { files, holes } = await connected.repair(index % 2 === 0 ? directory : await tempDir(t), list)
        assert.deepEqual(holes, [])
        if (index % 2 > 0) for (const file of files) await copyFile(file, join(directory, basename(file)))
        const healed = await verify(directory)
        assert.deepEqual([errors(healed), healed.damage.blobs], [[], []])
        assert.deepEqual(await loadAll(t, directory), reference)
      }
      const repairs = await repairDirectory(directory, { signal })
      for (const { verification } of repairs) assert.deepEqual(verification?.findings, [])
      assert.deepEqual(await digestsIn(directory), wholeVolumes)
      t.diagnostic(`${renderRepairList(list).length} bytes of list, ${list.bytes} bytes asked for by digest`)
    })
  }

  async function loadAll(t: TestContext, directory: string) {
    const closed = await closedSide(t)
    const loads = await closed.load(directory)
    assert.deepEqual(
      loads.map(({ result }) => result.exitStatus),
      [0],
    )
    return snapshotRegistry(closed.registry.url)
  }
})

async function damagedCopy(
  t: TestContext,
  { origin, apply, filter }: { origin: string; apply: Damage['apply']; filter?: (file: string) => boolean },
): Promise<string> {
  const directory = await copyOf(t, origin, filter)
  const volumes = (await readdir(directory)).filter((file) => /-\d{4}\.tar$/.test(file) && !file.includes('parity'))
  await apply(volumes.sort().map((file) => join(directory, file)))
  return directory
}

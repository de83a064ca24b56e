/** From what was loaded to a receipt, and from a receipt to the next archive: the two sides in one test. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { blobNamed, manifestNamed, type SampleArchive, sampleArchive } from '../../../testkit/archive-history.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import type { Digest } from '../../oci/digest.ts'
import { openBase } from './archive-base.ts'
import { readHistory, recordArchive, recordLoad } from './archive-history.ts'
import { composeReceipt, type ReceiptOptions, sinceLastFull } from './compose-receipt.ts'
import { sumHistory } from './history-content.ts'
import { parseReceipt, type Receipt, renderReceipt } from './receipt.ts'

const web = { name: 'web', blobs: ['base', 'web'] }
const tool = { name: 'tool', blobs: ['base', 'tool'] }
const samples: Record<'first' | 'second', SampleArchive> = {
  first: { sequence: 1, images: [web] },
  second: { sequence: 2, images: [tool], held: ['base'] },
}

/** The connected side, which has made all samples. */
async function connected(t: TestContext, list: readonly SampleArchive[] = Object.values(samples)): Promise<string> {
  const written = join(await tempDir(t), 'archives')
  for (const sample of list) await recordArchive(written, sampleArchive(sample))
  return written
}

interface Site {
  readonly target: string
  /** What was loaded, and what of it did not arrive. */
  readonly loads: readonly (readonly [SampleArchive, Digest[]])[]
}

/** A closed side after its loads: its receipt, as it is carried. */
async function receiptOf(t: TestContext, { target, loads }: Site, options: ReceiptOptions = {}): Promise<Receipt> {
  const loaded = join(await tempDir(t), 'loaded')
  for (const [sample, missing] of loads) {
    await recordLoad(loaded, { ...sampleArchive(sample), missing, loadedInto: target })
  }
  const entries = sinceLastFull((await readHistory(loaded, target)).archives)
  const sum = await sumHistory(entries)
  return parseReceipt(renderReceipt(composeReceipt({ target, entries, sum }, options)), 'receipt')
}

const site = 'registry.lab:8443/ocp'
const whole = (base: Awaited<ReturnType<typeof openBase>>, name: string) =>
  base.wholeImage(`quay.io/sample/${name}:1`, `sample/${name}:1`) !== undefined

test('what a receipt says is held: what was loaded, without what did not arrive or is gone', async (t) => {
  const written = await connected(t)
  const loads: Site['loads'] = [
    [samples.first, []],
    [samples.second, [blobNamed('tool')]],
  ]
  const receipt = await receiptOf(t, { target: site, loads }, { absent: new Set([manifestNamed('web')]) })
  assert.equal(receipt.archives, '1-2')
  assert.equal(receipt.held.except.length, 2)
  const base = await openBase(written, { receipt })
  assert.deepEqual([base.target, base.sequence, base.parent], [site, 2, receipt.archive])
  assert.equal(base.count, 3)
  assert.deepEqual(
    [blobNamed('base'), blobNamed('web'), manifestNamed('tool'), blobNamed('tool'), manifestNamed('web')].map(
      base.holds,
    ),
    [true, true, true, false, false],
  )
  assert.deepEqual([whole(base, 'web'), whole(base, 'tool')], [false, false])
})

test('a receipt of an older archive, after others were lost on the way: they are carried again under a new number', async (t) => {
  const written = await connected(t)
  const receipt = await receiptOf(t, { target: site, loads: [[samples.first, []]] })
  const base = await openBase(written, { receipt })
  assert.deepEqual([base.sequence, base.parent, base.archives], [2, sampleArchive(samples.first).id, [1]])
  assert.equal(base.holds(blobNamed('tool')), false)
  assert.equal(whole(base, 'web'), true)
})

test('two sites of one configuration get different increments, each by its own receipt', async (t) => {
  const written = await connected(t)
  const near = { target: 'near.lab/ocp', loads: [[samples.first, []]] } satisfies Site
  const far = { target: 'far.lab/ocp', loads: [...near.loads, [samples.second, []]] } satisfies Site
  const [nearBase, farBase] = await Promise.all(
    [near, far].map(async (one) => openBase(written, { receipt: await receiptOf(t, one) })),
  )
  assert.ok(nearBase && farBase)
  assert.deepEqual(
    [nearBase.target, nearBase.archives, nearBase.holds(blobNamed('tool'))],
    ['near.lab/ocp', [1], false],
  )
  assert.deepEqual([farBase.target, farBase.archives, farBase.holds(blobNamed('tool'))], ['far.lab/ocp', [1, 2], true])

  const next = {
    sequence: 3,
    images: [tool],
    held: ['base'],
    target: 'near.lab/ocp',
    parent: sampleArchive(samples.first).id,
  }
  await recordArchive(written, sampleArchive(next))
  assert.equal((await openBase(written, { target: 'near.lab/ocp' })).sequence, 3)
  const farNext = await openBase(written, { target: 'far.lab/ocp' })
  assert.deepEqual(
    [farNext.sequence, farNext.archives],
    [3, [1, 2]],
    'one number, one archive: both fit into one directory',
  )
})

test('an archive that was loaded out of its order, without the one before, counts with a gap', async (t) => {
  const third: SampleArchive = { sequence: 3, images: [{ name: 'new', blobs: ['new'] }] }
  const written = await connected(t, [...Object.values(samples), third])
  const loads: Site['loads'] = [
    [samples.first, []],
    [third, []],
  ]
  const receipt = await receiptOf(t, { target: site, loads })
  assert.equal(receipt.archives, '1,3')
  const base = await openBase(written, { receipt })
  assert.deepEqual([base.archives, whole(base, 'new'), whole(base, 'tool')], [[1, 3], true, false])
})

test('after a full archive only it and what follows is in the receipt', async (t) => {
  const full: SampleArchive = { sequence: 3, kind: 'full', images: [tool] }
  const loads: Site['loads'] = [
    [samples.first, []],
    [full, []],
  ]
  const receipt = await receiptOf(t, { target: site, loads })
  assert.equal(receipt.archives, '3')
  const base = await openBase(await connected(t, [...Object.values(samples), full]), { receipt })
  assert.deepEqual([base.holds(blobNamed('base')), base.holds(blobNamed('web'))], [true, false])
})

test('a receipt that does not fit this history is refused: what differs, and what to do', async (t) => {
  const receipt = await receiptOf(t, {
    target: site,
    loads: [
      [samples.first, []],
      [samples.second, []],
    ],
  })
  const other: SampleArchive = { ...samples.first, images: [web, { name: 'more', blobs: ['more'] }] }
  const refused: [readonly SampleArchive[], string | undefined, Receipt, RegExp][] = [
    [[samples.first], undefined, receipt, /has made no archive 2/],
    [[], undefined, receipt, /has made no archive 1/],
    [[samples.first, { ...samples.second, images: [web] }], undefined, receipt, /as archive 2, which here is sha256:/],
    [[other, samples.second], undefined, receipt, /counts 5 .* and 7 are known here/],
    [Object.values(samples), 'registry.other/ocp', receipt, /for the target registry.lab:8443\/ocp.* registry.other/],
    [Object.values(samples), undefined, { ...receipt, archives: '1-900000000000000' }, /no archive 3/],
    [Object.values(samples), undefined, withExcept(receipt, ['ffff0']), /excepts ffff0…, which was never carried/],
  ]
  for (const [made, target, carried, message] of refused) {
    await assert.rejects(
      openBase(await connected(t, made), { receipt: carried, target }),
      (error: Error & { code?: string; hint?: string }) => {
        assert.equal(error.code, 'RECEIPT_INVALID')
        assert.match(error.message, message)
        return true
      },
    )
  }
})

test('a receipt with all content serves a connected side that has lost its history', async (t) => {
  const loads: Site['loads'] = [
    [samples.first, []],
    [samples.second, []],
  ]
  const options = { isFull: true, absent: new Set([blobNamed('tool')]) }
  const receipt = await receiptOf(t, { target: site, loads }, options)
  const base = await openBase(join(await tempDir(t), 'archives'), { receipt })
  assert.deepEqual([base.sequence, base.parent, base.count], [2, receipt.archive, 4])
  assert.deepEqual([base.holds(blobNamed('base')), base.holds(blobNamed('tool'))], [true, false])
  const wrong = { ...receipt, content: [...(receipt.content ?? []), blobNamed('tool')] }
  await assert.rejects(openBase(join(await tempDir(t), 'archives'), { receipt: wrong }), { code: 'RECEIPT_INVALID' })
})

test('where nothing was loaded there is nothing to acknowledge', async (t) => {
  await assert.rejects(receiptOf(t, { target: site, loads: [] }), {
    code: 'RECEIPT_INVALID',
    message: /No archive was loaded/,
  })
})

function withExcept(receipt: Receipt, except: readonly string[]): Receipt {
  return { ...receipt, held: { ...receipt.held, except } }
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SampleArchive, sampleArchive } from '../../../testkit/archive-history.ts'
import { digestOf } from '../../oci/digest.ts'
import { checkArchiveOrder, requireArchiveOrder } from './archive-order.ts'

const images = [{ name: 'web', blobs: ['one'] }]
const site = 'registry.lab:8443/ocp'

function archive(sample: Omit<SampleArchive, 'images'>) {
  const { id, front } = sampleArchive({ ...sample, images })
  return { id, record: front.record, sequence: sample.sequence }
}

const first = archive({ sequence: 1 })
const second = archive({ sequence: 2, parent: first.id })
const third = archive({ sequence: 3, parent: second.id, target: site })

const found = (...args: Parameters<typeof checkArchiveOrder>) =>
  checkArchiveOrder(...args).map(({ id, severity }) => `${severity} ${id}`)

test('archives that come in their order are loaded', () => {
  assert.deepEqual(found([], first, site), [])
  assert.deepEqual(found([first], second, site), [])
  assert.deepEqual(found([first, second], third, site), [])
})

test('a full archive is loaded at any time', () => {
  assert.deepEqual(found([], archive({ sequence: 7, kind: 'full' }), site), [])
  assert.deepEqual(found([first, second], archive({ sequence: 1, kind: 'full', target: site }), site), [])
})

test('numbers may be left out where nothing builds on them: they were for other targets, or lost and made anew', () => {
  assert.deepEqual(found([first], archive({ sequence: 9, parent: first.id }), site), [])
})

test('an archive that builds on one that was not loaded is refused, and what is missing is named', () => {
  const refused: [Parameters<typeof checkArchiveOrder>[0], Parameters<typeof checkArchiveOrder>[1], RegExp][] = [
    [[first], third, /Archive 3 .*: archive 2 is missing$/],
    [[], third, /archives 1-2 are missing/],
    [[first], archive({ sequence: 6, parent: digestOf('five') }), /archives 2-5 are missing/],
    [[first, second], archive({ sequence: 3, parent: digestOf('another') }), /does not follow the archive 2/],
    [[], archive({ sequence: 2, kind: 'repair' }), /repair of archive 2 .*: archive 2 itself was not loaded/],
  ]
  for (const [loaded, next, message] of refused) {
    const findings = checkArchiveOrder(loaded, next, site)
    assert.throws(() => requireArchiveOrder(findings, false), { code: 'ARCHIVE_OUT_OF_ORDER', message })
  }
})

test('an archive for another target is refused, and both are named', () => {
  const findings = checkArchiveOrder([first, second], third, 'registry.other/ocp')
  assert.throws(() => requireArchiveOrder(findings, false), {
    code: 'ARCHIVE_OTHER_TARGET',
    message: `Archive 3 was made for ${site}, and this is registry.other/ocp`,
  })
})

test('two archives with one number are told apart', () => {
  const other = archive({ sequence: 2, parent: first.id, target: site })
  const findings = checkArchiveOrder([first, second], other, site)
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['archive.other-archive'],
  )
  assert.throws(() => requireArchiveOrder(findings, false), {
    code: 'ARCHIVE_OUT_OF_ORDER',
    message: new RegExp(`${second.id}.*${other.id}`),
  })
})

test('the same archive again is no mistake', () => {
  assert.deepEqual(found([first, second], second, site), ['info archive.already-loaded'])
})

test('an archive that is wanted anyway is loaded with a warning', () => {
  const accepted = requireArchiveOrder(checkArchiveOrder([first], third, 'registry.other/ocp'), true)
  assert.deepEqual(
    accepted.map(({ id, severity }) => [id, severity]),
    [
      ['archive.other-target', 'warning'],
      ['archive.out-of-order', 'warning'],
    ],
  )
})

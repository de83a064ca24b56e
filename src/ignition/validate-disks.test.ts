/** Rules for disks, filesystems, arrays and encrypted volumes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateIgnition } from './validate.ts'

/** What is said of a storage section, without places in the text. */
function saidOf(version: string, storage: object): readonly string[] {
  const { entries } = validateIgnition(JSON.stringify({ ignition: { version }, storage }))
  return entries.map(({ severity, path, message }) => `${severity} ${path.replace('$.storage.', '')}: ${message}`)
}

test('partitions have numbers and labels of their own, and do not overlap', () => {
  const partitions = [
    { number: 1, label: 'a', startMiB: 1, sizeMiB: 100 },
    { number: 1, label: 'b', startMiB: 200, sizeMiB: 0 },
    { number: 2, label: 'a', startMiB: 50, sizeMiB: 10 },
  ]
  assert.deepEqual(saidOf('3.2.0', { disks: [{ device: '/dev/a', partitions }] }), [
    'error disks.0.partitions.1: partition numbers collide',
    'error disks.0.partitions.2: partitions overlap',
    'error disks.0.partitions.2: cannot use the same partition label twice',
    'error disks.0.partitions.1: duplicate entry defined',
  ])
})

test('partitions that sgdisk places are not compared', () => {
  const partitions = [
    { label: 'a', startMiB: 0, sizeMiB: 100 },
    { label: 'b', startMiB: 0, sizeMiB: 0 },
    { label: 'c' },
  ]
  assert.deepEqual(saidOf('3.2.0', { disks: [{ device: '/dev/a', partitions }] }), [])
})

test('a partition can be named, and has a GUID that is one', () => {
  const partitions = [
    {},
    { label: 'a:b', guid: 'x', typeGuid: '01234567-89AB-CDEF-EDCB-A98765432101' },
    { label: 'é'.repeat(19) },
    { number: 4, shouldExist: false, sizeMiB: 1 },
  ]
  assert.deepEqual(saidOf('3.2.0', { disks: [{ device: '/dev/a', partitions }, { device: '' }] }), [
    'error disks.0.partitions.0: a partition number >= 1 or a label must be specified',
    'error disks.0.partitions.1.label: partition label will be truncated to text before the colon',
    'error disks.0.partitions.1.guid: doesn\'t match the form "01234567-89AB-CDEF-EDCB-A98765432101"',
    'error disks.0.partitions.2.label: partition labels may not exceed 36 characters',
    'error disks.0.partitions.3: shouldExist specified false with other options also specified',
    'error disks.1.device: disk device is required',
  ])
})

test('a filesystem on a disk that is made anew is told', () => {
  const disks = [
    { device: '/dev/a', wipeTable: true },
    { device: '/dev/b', partitions: [{ label: 'x' }] },
  ]
  const filesystems = ['/dev/a', '/dev/b', '/dev/c'].map((device) => ({ device, format: 'xfs' }))
  assert.deepEqual(saidOf('3.2.0', { disks, filesystems }), [
    'warning filesystems.0.device: device matches disk with wipeTable enabled; filesystem will be wiped',
    'warning filesystems.1.device: filesystem overwrites partitioned device',
  ])
})

test('filesystems have a format of their version, and labels that fit into it', () => {
  const filesystem = (fields: object) => ({ filesystems: [{ device: '/dev/a', ...fields }] })
  assert.deepEqual(saidOf('3.2.0', filesystem({ format: 'none' })), [
    'error filesystems.0.format: invalid filesystem format',
  ])
  assert.deepEqual(saidOf('3.3.0', filesystem({ format: 'none' })), [])
  assert.deepEqual(saidOf('3.3.0', filesystem({ label: 'a' })), [
    'error filesystems.0.format: format cannot be empty when path, label, uuid, wipeFilesystem, options, or mountOptions is specified',
    'error filesystems.0.label: filesystem must specify format if label is specified',
  ])
  for (const [format, most] of Object.entries({ ext4: 16, btrfs: 256, xfs: 12, swap: 15, vfat: 11 })) {
    assert.deepEqual(saidOf('3.3.0', filesystem({ format, label: 'l'.repeat(most) })), [])
    assert.deepEqual(saidOf('3.3.0', filesystem({ format, label: 'l'.repeat(most + 1) })), [
      `error filesystems.0.label: filesystem labels cannot be longer than ${most} characters when using ${format}`,
    ])
  }
})

test('virtiofs has a tag and nothing that needs a disk', () => {
  const version = '3.7.0-experimental'
  const virtiofs = (fields: object) => saidOf(version, { filesystems: [{ format: 'virtiofs', ...fields }] })
  assert.deepEqual(virtiofs({ device: 'tag', path: '/a' }), [])
  assert.deepEqual(virtiofs({ device: '' }), ['error filesystems.0.device: device not specified'])
  assert.deepEqual(virtiofs({ device: 't'.repeat(37), label: 'l', uuid: 'u', wipeFilesystem: true, options: ['o'] }), [
    'error filesystems.0.device: virtiofs device tag cannot be longer than 36 bytes',
    'error filesystems.0.label: filesystem labels cannot be set when using virtiofs',
    'error filesystems.0.uuid: filesystem uuid cannot be set for non-block-device filesystems',
    'error filesystems.0.wipeFilesystem: wipeFilesystem cannot be set for non-block-device filesystems',
    'error filesystems.0.options: filesystem options (mkfs) cannot be set for non-block-device filesystems',
  ])
})

test('an array has devices and a level, and spares only where they help', () => {
  const raid = [
    { name: 'a', devices: ['/dev/a', 'b'], level: 'raid0', spares: 1 },
    { name: 'b', level: 'raid2' },
    { name: 'c', devices: ['/dev/a'] },
  ]
  const said = [
    'error raid.0.level: spares unsupported for linear and raid0 arrays',
    'error raid.0.devices.1: path not absolute',
    'error raid.1.level: unrecognized raid level',
    'error raid.1.devices: raid devices required',
  ]
  assert.deepEqual(saidOf('3.2.0', { raid }), [...said, 'error raid.2.level: unrecognized raid level'])
  assert.deepEqual(saidOf('3.3.0', { raid }), [...said, 'error raid.2.level: raid level is required'])
})

const luks = (version: string, fields: object) =>
  saidOf(version, { luks: [{ name: 'a', device: '/dev/a', ...fields }] }).map((line) => line.replace('luks.0.', ''))

test('an encrypted volume has a device, a name without slashes, and a key that can be had', () => {
  assert.deepEqual(luks('3.2.0', { name: 'a/b', device: null, label: 'l'.repeat(48), keyFile: { source: 'x:' } }), [
    'error name: device names cannot contain slashes',
    'error label: luks device labels cannot be longer than 47 characters',
    'error device: disk device is required',
    'error keys: invalid key-file source',
    'error keyFile.source: invalid url scheme',
  ])
})

test('a custom pin stands alone, is known before 3.6, and has a config', () => {
  const clevis = { custom: { pin: 'own' }, tpm2: true }
  const said = ['error clevis: cannot use custom clevis config with tpm2, tang, or threshold']
  const config = 'error clevis.custom.config: missing required custom clevis config'
  assert.deepEqual(luks('3.2.0', { clevis }), [...said, 'error clevis.custom.pin: unsupported clevis pin', config])
  assert.deepEqual(luks('3.6.0', { clevis }), [...said, config])
  assert.deepEqual(luks('3.3.0', { clevis: { custom: { needsNetwork: true } } }), [
    'error clevis.custom.pin: missing required custom clevis pin',
    config,
  ])
  assert.deepEqual(luks('3.2.0', { clevis: { custom: {}, tpm2: true } }), said)
  assert.deepEqual(luks('3.3.0', { clevis: { custom: {}, tpm2: true } }), [])
})

test('tang has a server and a thumbprint, and what it advertises is JSON', () => {
  const tang = [{ url: 'tang.lab', advertisement: '{' }]
  assert.deepEqual(luks('3.4.0', { clevis: { tang } }), [
    'error clevis.tang.0.url: invalid url scheme',
    'error clevis.tang.0.thumbprint: thumbprint is required',
    'error clevis.tang.0.advertisement: advertisement is not valid JSON',
  ])
})

test('a key of the processor goes with no other', () => {
  const cex = { enabled: true }
  assert.deepEqual(luks('3.5.0', { cex, clevis: { tpm2: true }, keyFile: { source: 'data:,a' } }), [
    'error cex: cannot use cex with clevis',
    'error cex: cannot use key file with cex',
  ])
})

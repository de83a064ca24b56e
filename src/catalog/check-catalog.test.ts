import assert from 'node:assert/strict'
import { test } from 'node:test'
import { madeCatalog } from '../../testkit/catalogs.ts'
import { checkCatalog } from './check-catalog.ts'

type Made = Parameters<typeof madeCatalog>[0][string]

function idsOf(made: Partial<Made>): string[] {
  const sound: Made = { defaultChannel: 'stable', channels: { stable: ['lamp.v1.1.0 > lamp.v1.0.0', 'lamp.v1.0.0'] } }
  return checkCatalog(madeCatalog({ lamp: { ...sound, ...made } })).map(({ id, severity }) => `${severity} ${id}`)
}

test('a sound package has no findings', () => {
  assert.deepEqual(idsOf({}), [])
})

const two = { 'lamp.v1.1.0': '1.1.0', 'lamp.v1.0.0': '1.0.0' }

const faults: Readonly<Record<string, readonly [Partial<Made>, string[]]>> = {
  'no channels': [{ channels: {} }, ['error catalog.no-channels']],
  'no default channel': [{ defaultChannel: '' }, ['error catalog.no-default-channel']],
  'a default channel that is not there': [{ defaultChannel: 'fast' }, ['error catalog.no-default-channel']],
  'several heads': [{ channels: { stable: ['lamp.v1.1.0', 'lamp.v1.0.0'] } }, ['error catalog.channel-flawed']],
  'an entry that the head does not lead to': [
    {
      channels: {
        stable: [
          { name: 'lamp.v1.1.0', replaces: 'lamp.v1.0.0', skips: ['lamp.v0.9.0'] },
          'lamp.v1.0.0',
          { name: 'lamp.v0.9.0', replaces: 'lamp.v0.8.0' },
          'lamp.v0.8.0',
        ],
      },
    },
    ['error catalog.bundle-stranded'],
  ],
  'an entry without a bundle': [{ bundles: { 'lamp.v1.0.0': '1.0.0' } }, ['error catalog.bundle-absent']],
  'a bundle in no channel': [{ bundles: { ...two, 'lamp.v0.1.0': '0.1.0' } }, ['error catalog.bundle-unlisted']],
  'a version that is none': [{ bundles: { ...two, 'lamp.v1.0.0': 'one' } }, ['error catalog.bundle-unversioned']],
  'a version that is there twice': [
    { bundles: { ...two, 'lamp.v1.1.0': '1.0.0' } },
    ['error catalog.version-repeated'],
  ],
  'a skipRange that is none': [
    { channels: { stable: [{ name: 'lamp.v1.0.0', skipRange: 'older' }] }, bundles: { 'lamp.v1.0.0': '1.0.0' } },
    ['warning catalog.skip-range-invalid'],
  ],
  'a deprecation of what is not there': [
    { deprecations: [{ reference: { schema: 'olm.channel', name: 'fast' }, message: 'gone' }] },
    ['error catalog.deprecation-lost'],
  ],
  'a bundle without images': [
    { bundles: { ...two, 'lamp.v1.0.0': { version: '1.0.0', image: '' } } },
    ['warning catalog.bundle-imageless'],
  ],
  'a related image without a reference': [
    { bundles: { ...two, 'lamp.v1.0.0': { version: '1.0.0', relatedImages: [{ name: 'x', image: '' }] } } },
    ['warning catalog.image-empty'],
  ],
}

for (const [what, [made, expected]] of Object.entries(faults))
  test(`${what}: found, and nothing else`, () => assert.deepEqual(idsOf(made), expected))

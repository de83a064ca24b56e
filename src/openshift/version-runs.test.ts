import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { versionRuns } from './version-runs.ts'

function drawn(versions: readonly string[]): Record<string, readonly string[]> {
  const runs = [...versionRuns(versions)].map(([minor, all]) => [
    minor,
    all.map(({ first, last }) => `${first}-${last}`),
  ])
  return Object.fromEntries(runs) as Record<string, readonly string[]>
}

test('patches that follow each other are one run, also where they are given in another order', () => {
  assert.deepEqual(drawn(['4.11.13', '4.11.11', '4.12.0', '4.11.12', '4.11.16']), {
    '4.11': ['4.11.11-4.11.13', '4.11.16-4.11.16'],
    '4.12': ['4.12.0-4.12.0'],
  })
})

test('release candidates are not drawn together, and what is no version is kept', () => {
  assert.deepEqual(drawn(['4.12.0-rc.1', '4.12.0-rc.0', '4.12.0', '4.12.1', 'sometime']), {
    '4.12': ['4.12.0-rc.0-4.12.0-rc.0', '4.12.0-rc.1-4.12.0-rc.1', '4.12.0-4.12.1'],
    '': ['sometime-sometime'],
  })
})

test('every version is in exactly one run', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.integer({ min: 16, max: 18 }), fc.integer({ min: 0, max: 9 })), { selector: String }),
      (pairs) => {
        const versions = pairs.map(([minor, patch]) => `4.${minor}.${patch}`)
        const patches = [...versionRuns(versions).values()].flat().map(({ first, last }) => {
          const [from, to] = [first, last].map((text) => Number(text.split('.')[2]))
          return (to ?? 0) - (from ?? 0) + 1
        })
        assert.equal(
          patches.reduce((sum, length) => sum + length, 0),
          versions.length,
        )
      },
    ),
  )
})

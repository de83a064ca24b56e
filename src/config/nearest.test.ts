import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { nearest } from './nearest.ts'

const fields = ['platform', 'additionalImages', 'blockedImages', 'operators', 'helm']

test('a slip of the keyboard finds the word that was meant', () => {
  const slips = {
    platfrom: 'platform',
    additonalImages: 'additionalImages',
    blockedimages: 'blockedImages',
    operator: 'operators',
    hlem: undefined,
    helms: 'helm',
  }
  for (const [slip, meant] of Object.entries(slips)) assert.equal(nearest(slip, fields), meant, slip)
})

test('a word that is like none of them finds none', () => {
  for (const word of ['', 'x', 'graph', 'registries']) assert.equal(nearest(word, fields), undefined, word)
  assert.equal(nearest('platform', []), undefined)
})

test('a word is nearest to itself, whatever its case', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{1,12}$/), (word) =>
      assert.equal(nearest(word.toUpperCase(), ['zzzzzzzzzzzzzzz', word]), word),
    ),
  )
})

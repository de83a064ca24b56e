import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ErrorCode, errorCodes } from '../../src/errors/codes.ts'
import { renderErrorsPage } from '../../tools/errors-page.ts'
import { repositoryRoot, shippedFiles } from './source-files.ts'

test('docs/errors.md is what `npm run docs` writes', async () => {
  assert.equal(await readFile(join(repositoryRoot, 'docs', 'errors.md'), 'utf8'), renderErrorsPage())
})

test('every error code has a next step, written as a sentence', () => {
  const broken = Object.entries(errorCodes).filter(([, { hint }]) => !/^[A-Za-z].{15,}[^,;]$/.test(hint))
  assert.deepEqual(
    broken.map(([code]) => code),
    [],
  )
})

test('every error code is used', async () => {
  const texts = (await shippedFiles()).filter(({ path }) => path !== 'src/errors/codes.ts').map(({ text }) => text)
  const unused = (Object.keys(errorCodes) as ErrorCode[]).filter(
    (code) => !texts.some((text) => text.includes(`'${code}'`)),
  )
  assert.deepEqual(unused, [])
})

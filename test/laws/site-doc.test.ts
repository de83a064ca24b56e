import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { renderSitePage } from '../../tools/site-page.ts'
import { repositoryRoot } from './source-files.ts'

test('docs/sallyport-yaml.md is what `npm run docs` writes', async () => {
  assert.equal(await readFile(join(repositoryRoot, 'docs', 'sallyport-yaml.md'), 'utf8'), renderSitePage())
})

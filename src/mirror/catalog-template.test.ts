import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { readCatalogTemplate } from './catalog-template.ts'

test('a template is read relative to where the command runs, and is refused before anything moves', async (t) => {
  const cwd = await tempDir(t)
  const text = 'apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nspec: {priority: 1}\n'
  await writeFile(join(cwd, 'cs.yaml'), text)
  assert.deepEqual(await readCatalogTemplate('cs.yaml', cwd), { text, file: join(cwd, 'cs.yaml') })
  const refuses = (path: string, message: RegExp) =>
    assert.rejects(readCatalogTemplate(path, cwd), { code: 'CONFIG_INVALID', message })
  await refuses('absent.yaml', /absent\.yaml: there is no such file/)
  await writeFile(join(cwd, 'empty.yaml'), '# nothing\n')
  await refuses('empty.yaml', /empty\.yaml: it is empty/)
  await writeFile(join(cwd, 'other.yaml'), 'kind: Secret\n')
  await refuses('other.yaml', /other\.yaml:1:1: not a CatalogSource/)
})

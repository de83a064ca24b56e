import { resolve } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import { parseCatalogSource } from '../openshift/catalog-source.ts'
import type { ResourceFile } from '../openshift/resource-document.ts'
import { readIfPresent } from './workspace.ts'

/**
 * The file of `targetCatalogSourceTemplate`, checked: read before anything moves, so that nobody learns after hours that
 * it cannot be used. oc-mirror logs that at the end, and writes a CatalogSource without it.
 *
 * @param path relative to `cwd`
 * @throws KnownError CONFIG_INVALID with the place, where it is not there, is empty or is no CatalogSource
 */
export async function readCatalogTemplate(path: string, cwd: string): Promise<ResourceFile> {
  const file = resolve(cwd, path)
  const text = await readIfPresent(file)
  const source = { text: text ?? '', file }
  if (text === undefined) throw unusable(file, 'there is no such file')
  if (parseCatalogSource(source) === undefined) throw unusable(file, 'it is empty')
  return source
}

function unusable(file: string, why: string): KnownError {
  return new KnownError('CONFIG_INVALID', `targetCatalogSourceTemplate ${file}: ${why}`, {
    details: { file },
    hint: 'Name a file with a CatalogSource, or take targetCatalogSourceTemplate out of the configuration.',
  })
}

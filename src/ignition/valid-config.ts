/** Configs that Ignition would start from: what a machine is made from is checked before, as Ignition does with every config that it reads. */
import { KnownError } from '../errors/known-error.ts'
import { type ReadConfig, readIgnitionConfig } from './read-config.ts'
import { validateIgnition } from './validate.ts'

/**
 * Of specification 2.x there are no rules here: those configs are read as they are.
 *
 * @param fileName names the file in errors
 * @throws KnownError IGNITION_INVALID for what is no config, or one that is not valid
 */
export function readValidConfig(text: string, fileName: string): ReadConfig {
  const read = readIgnitionConfig(text, fileName)
  if (read.version.startsWith('2.')) return read
  const { entries } = validateIgnition(text)
  const errors = entries.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (!first) return read
  const others = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  throw new KnownError('IGNITION_INVALID', `${fileName} is not valid: ${first.path}: ${first.message}${others}`, {
    details: { file: fileName, path: first.path, errors: errors.length },
  })
}

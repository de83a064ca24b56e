/** From the text of a config to its types: 3.x as it is, 2.x made into 3.x. What is wrong with it says `validate.ts`. */
import { KnownError } from '../errors/known-error.ts'
import type { IgnitionConfig } from './config.ts'
import { configOfSpec2 } from './spec-2.ts'

export interface ReadConfig {
  readonly config: IgnitionConfig
  /** As the text says it, `2.2.0` too. */
  readonly version: string
}

/**
 * @param fileName names the file in errors
 * @throws KnownError IGNITION_INVALID for text that is no JSON, no config, or of a version that nobody knows
 */
export function readIgnitionConfig(text: string, fileName: string): ReadConfig {
  const document = parsed(text, fileName)
  const version = versionOf(document)
  if (version === undefined)
    throw new KnownError('IGNITION_INVALID', `${fileName}: no Ignition config: it has no ignition.version`, {
      details: { file: fileName },
    })
  if (/^2\.[0-4]\.0(?:-experimental)?$/.test(version)) return { config: configOfSpec2(document), version }
  if (/^3\.[0-9]\.0(?:-experimental)?$/.test(version)) return { config: document as IgnitionConfig, version }
  throw new KnownError('IGNITION_INVALID', `${fileName}: Ignition specification ${version} is not known`, {
    details: { file: fileName, version },
    hint: 'Specifications 3.0.0 to 3.6.0 are read, and 2.x as far as the installer of OpenShift 4.5 and before used it.',
  })
}

function parsed(text: string, fileName: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new KnownError('IGNITION_INVALID', `${fileName}: not JSON: ${why}`, { details: { file: fileName }, cause })
  }
}

function versionOf(document: unknown): string | undefined {
  if (typeof document !== 'object' || document === null || !('ignition' in document)) return undefined
  const { ignition } = document
  if (typeof ignition !== 'object' || ignition === null || !('version' in ignition)) return undefined
  return typeof ignition.version === 'string' ? ignition.version : undefined
}

/**
 * From the text of a config to its types, as Ignition decodes it: 3.x as it is, 2.x made into 3.x.
 *
 * What is `null` or unknown is not there, and keys match in upper and lower case alike. Whether the values mean anything
 * says `validate.ts`.
 */
import { KnownError } from '../errors/known-error.ts'
import type { IgnitionConfig } from './config.ts'
import { type JsonFault, type JsonNode, readJson } from './json-tree.ts'
import { type ConfigPath, formatConfigPath, LineIndex } from './positions.ts'
import { configOfSpec2, configType2 } from './spec-2.ts'
import { type DecodedStruct, decodeStruct } from './validation/decode.ts'
import { configType, versionStubType } from './validation/spec-fields.ts'
import type { StructType } from './validation/spec-types.ts'

export interface ReadConfig {
  readonly config: IgnitionConfig
  /** As the text says it, `2.2.0` too. */
  readonly version: string
}

/**
 * @param fileName names the file in errors
 * @throws KnownError IGNITION_INVALID for text that is no JSON, no config, or of a version that nobody knows, and for
 * values of a type that its field cannot have
 */
export function readIgnitionConfig(text: string, fileName: string): ReadConfig {
  const bytes = Buffer.from(text.startsWith('\uFEFF') ? text.slice(1) : text)
  const document = readJson(bytes)
  if ('fault' in document) throw invalid({ fileName, bytes, fault: document.fault, what: 'not JSON' })
  const decode = (root: JsonNode, type: StructType): DecodedStruct => {
    const decoded = decodeStruct(root, type)
    if ('value' in decoded) return decoded.value
    throw invalid({ fileName, bytes, fault: decoded.fault, what: formatConfigPath(decoded.fault.path) })
  }
  const version = versionIn(decode(document.root, versionStubType()))
  if (version === '')
    throw new KnownError('IGNITION_INVALID', `${fileName}: no Ignition config: it has no ignition.version`, {
      details: { file: fileName },
    })
  if (/^2\.[0-4]\.0(?:-experimental)?$/.test(version))
    return { config: configOfSpec2(decode(document.root, configType2())), version }
  const [, minor] = /^3\.([0-9])\.0(?:-experimental)?$/.exec(version) ?? []
  if (minor === undefined) throw unknownVersion(version, fileName)
  // What is decoded as a config has its shape.
  return { config: decode(document.root, configType(Number(minor))) as unknown as IgnitionConfig, version }
}

function versionIn({ Ignition }: DecodedStruct): string {
  const version = typeof Ignition === 'object' && Ignition !== null && 'Version' in Ignition ? Ignition.Version : ''
  return typeof version === 'string' ? version : ''
}

function unknownVersion(version: string, fileName: string): KnownError {
  return new KnownError('IGNITION_INVALID', `${fileName}: Ignition specification ${version} is not known`, {
    details: { file: fileName, version },
    hint: 'Specifications 3.0.0 to 3.6.0 are read, and 2.x as far as the installer of OpenShift 4.5 and before used it.',
  })
}

interface Refusal {
  readonly fileName: string
  readonly bytes: Uint8Array
  readonly fault: JsonFault & { readonly path?: ConfigPath }
  readonly what: string
}

function invalid({ fileName, bytes, fault, what }: Refusal): KnownError {
  const { line, column } = new LineIndex(bytes).placeOf(fault.offset)
  return new KnownError('IGNITION_INVALID', `${fileName}: ${what}: ${fault.message}, line ${line} col ${column}`, {
    details: { file: fileName, line, column },
  })
}

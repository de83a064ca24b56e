/** Fields of whatever has a source. */
import { list, type StructType, scalar, struct } from './spec-types.ts'

/** What a file or a key consists of. */
export function resourceType(minor: number): StructType {
  if (minor === 0)
    return struct('FileContents', {
      compression: scalar.optionalText,
      source: scalar.optionalText,
      verification: verificationType(),
    })
  const header = struct('HTTPHeader', { name: scalar.text, value: scalar.optionalText })
  return struct('Resource', {
    compression: scalar.optionalText,
    httpHeaders: list(header, { goType: 'types.HTTPHeaders' }),
    source: scalar.optionalText,
    verification: verificationType(),
  })
}

/** Another config, to be merged or to stand in the place of this one. */
export function configReferenceType(minor: number): StructType {
  if (minor > 0) return resourceType(minor)
  return struct('ConfigReference', { source: scalar.optionalText, verification: verificationType() })
}

export function certificateAuthorityType(minor: number): StructType {
  if (minor > 0) return resourceType(minor)
  return struct('CaReference', { source: scalar.text, verification: verificationType() })
}

function verificationType(): StructType {
  return struct('Verification', { hash: scalar.optionalText })
}

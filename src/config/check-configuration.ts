import type { Finding } from '../errors/finding.ts'
import { readEitherKind } from './image-set-kinds.ts'
import { InvalidConfiguration, inFileOrder } from './invalid-config.ts'
import { ignoredParts, unsupportedParts } from './unsupported-parts.ts'
import type { YamlSource } from './yaml-document.ts'

/** Everything there is to say about a file of either kind: what is wrong, not carried out, without effect. */
export function checkConfiguration(source: YamlSource): readonly Finding[] {
  try {
    const loaded = readEitherKind(source)
    return inFileOrder([...loaded.findings, ...unsupportedParts(loaded), ...ignoredParts(loaded)])
  } catch (error) {
    if (error instanceof InvalidConfiguration) return error.findings
    throw error
  }
}

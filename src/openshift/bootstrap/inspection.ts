/** Everything that there is to say about one config, for a person or a program that looks into it. */
import type { Finding } from '../../errors/finding.ts'
import { readBootstrap } from './bootstrap-config.ts'
import { readCertificates, useBefore } from './certificates.ts'
import { compareRegistries } from './compare-registries.ts'
import { pointerTargets, readInspected } from './inspected-config.ts'
import { type InspectedFacts, inspectionFindings } from './inspection-findings.ts'
import { nodeRegistries } from './node-registries.ts'
import { scriptImages } from './script-images.ts'
import { orderUnits } from './unit-order.ts'

export interface Inspection extends InspectedFacts {
  readonly findings: readonly Finding[]
}

/**
 * @param options.now milliseconds since the epoch
 * @throws KnownError IGNITION_INVALID
 */
export function inspectConfig(text: string, options: { readonly fileName: string; readonly now: number }): Inspection {
  const { fileName, now } = options
  const inspected = readInspected(text, fileName)
  const { config, kind } = inspected
  const bootstrap = readBootstrap(config, { fileName })
  const certificates = readCertificates(config, bootstrap.files)
  const first = kind === 'bootstrap' ? useBefore(certificates.certificates) : undefined
  const nodes = kind === 'bootstrap' ? nodeRegistries(bootstrap) : undefined
  const differences = nodes === undefined ? [] : compareRegistries(bootstrap, nodes)
  const seen = {
    fileName,
    sizeBytes: Buffer.byteLength(text),
    inspected,
    bootstrap,
    images: scriptImages(bootstrap),
    pointers: pointerTargets(config),
    certificates,
    ...(first !== undefined && { useBefore: first }),
    order: orderUnits(bootstrap),
    ...(nodes !== undefined && { nodes }),
    differences,
  }
  return { ...seen, findings: inspectionFindings(seen, now) }
}

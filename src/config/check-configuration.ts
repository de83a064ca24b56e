import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { readConfigurationText } from './image-set-file.ts'
import { readEitherKind } from './image-set-kinds.ts'
import { InvalidConfiguration, inFileOrder } from './invalid-config.ts'
import { loadSite } from './site-configuration.ts'
import { ignoredParts, unsupportedParts } from './unsupported-parts.ts'
import { openYaml, type YamlSource } from './yaml-document.ts'

/** As `checkConfiguration`; a file that cannot be read is a finding too. */
export async function checkConfigurationFile(file: string): Promise<readonly Finding[]> {
  try {
    return checkConfiguration({ file, text: await readConfigurationText(file) })
  } catch (error) {
    if (!(error instanceof KnownError) || error.code !== 'CONFIG_INVALID') throw error
    return [finding({ id: 'config.unreadable', severity: 'error', summary: error.message, where: { file } })]
  }
}

/** Everything there is to say about a file of any kind: what is wrong, not carried out, without effect. */
export function checkConfiguration(source: YamlSource): readonly Finding[] {
  try {
    if (isSite(source)) return loadSite(source).findings
    const loaded = readEitherKind(source)
    return inFileOrder([...loaded.findings, ...unsupportedParts(loaded), ...ignoredParts(loaded)])
  } catch (error) {
    if (error instanceof InvalidConfiguration) return error.findings
    throw error
  }
}

/** By its kind, or by what stands in it where it names none. */
function isSite(source: YamlSource): boolean {
  const { document } = openYaml(source)
  if (!document.has('kind')) return document.has('baseDomain') && document.has('variant')
  return document.get('kind') === 'Site'
}

/** From a file to a configuration of one of the two kinds, whatever version of the format it is written in. */
import { isMap, isScalar, YAMLMap } from 'yaml'
import * as z from 'zod'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { fieldAdvice } from './former-fields.ts'
import { configError, InvalidConfiguration, inFileOrder } from './invalid-config.ts'
import { nearest } from './nearest.ts'
import { updateApiVersion } from './update-format.ts'
import { openYaml, readTextFile, validateYaml, type YamlFile, type YamlSource } from './yaml-document.ts'
import { pairOf } from './yaml-nodes.ts'

const apiVersions = ['mirror.openshift.io/v2alpha1', 'mirror.openshift.io/v1alpha2'] as const

export const apiVersionField = z.enum(apiVersions).default('mirror.openshift.io/v2alpha1').meta({
  description: 'Version of the format. v1alpha1 is read too, and brought up to date.',
})

const kinds = ['ImageSetConfiguration', 'DeleteImageSetConfiguration'] as const
type Kind = (typeof kinds)[number]

export interface ImageSetFormat<Schema extends z.ZodType> {
  readonly kind: Kind
  /** The section that must be there. */
  readonly section: 'mirror' | 'delete'
  readonly schema: Schema
}

export interface LoadedFile<Configuration> {
  readonly configuration: Configuration
  /** The file, to find the place of each field in. */
  readonly file: YamlFile
  /** What was understood, but should be written in another way; severity warning or info. */
  readonly findings: readonly Finding[]
}

/** @throws KnownError CONFIG_INVALID, also where the file cannot be read */
export async function openImageSet<Schema extends z.ZodType>(
  path: string,
  format: ImageSetFormat<Schema>,
): Promise<LoadedFile<z.output<Schema>>> {
  return loadImageSet({ file: path, text: await readConfigurationText(path) }, format)
}

/** @throws KnownError CONFIG_INVALID: a configuration that cannot be read ends as one that does not load, with 78 */
export async function readConfigurationText(path: string): Promise<string> {
  return readTextFile(path).catch((error: unknown) => {
    if (!(error instanceof KnownError) || error.code !== 'FILE_UNREADABLE') throw error
    throw new KnownError('CONFIG_INVALID', error.message, { hint: error.hint, details: { ...error.details } })
  })
}

/** @throws KnownError CONFIG_INVALID with every finding at its line and column */
export function loadImageSet<Schema extends z.ZodType>(
  source: YamlSource,
  { kind, section, schema }: ImageSetFormat<Schema>,
): LoadedFile<z.output<Schema>> {
  const file = openYaml(source)
  checkKind(file, kind)
  const updates = updateApiVersion(file)
  fillEmptySection(file, section)
  const { value, findings } = validateYaml(file, schema, { fieldAdvice })
  const absent = pairOf(file.contents, 'apiVersion') ? [] : [apiVersionAbsent(file)]
  return { configuration: value, file, findings: inFileOrder([...updates, ...absent, ...findings]) }
}

/** Of a file of another kind nothing else is said: every field of it would be wrong. */
function checkKind(file: YamlFile, kind: Kind): void {
  if (!isMap(file.contents)) {
    const summary = `a mapping of fields must stand here, beginning with kind: ${kind}`
    throw new InvalidConfiguration([configError('config.kind', summary, file.placeOf([]))])
  }
  const written = file.document.get('kind')
  if (written === kind) return
  const where = file.placeOf(['kind'])
  throw new InvalidConfiguration([configError('config.kind', kindSummary(written, kind), where)])
}

function kindSummary(written: unknown, kind: Kind): string {
  if (written === undefined || written === null) return `kind must be ${kind}, and it is missing`
  const other = kinds.find((each) => each === written)
  if (other === 'DeleteImageSetConfiguration')
    return `kind must be ${kind}; a ${other} says what to take off a mirror: give it to sallyport delete`
  if (other !== undefined) return `kind must be ${kind}; a ${other} says what to mirror: give it to sallyport mirror`
  const meant = nearest(String(written), kinds)
  return `kind must be ${kind}, not "${String(written)}"${meant === kind ? '; it is misspelt' : ''}`
}

/** `mirror:` with nothing under it asks for nothing, in oc-mirror too. */
function fillEmptySection({ contents }: YamlFile, section: string): void {
  const pair = pairOf(contents, section)
  if (pair && (pair.value === null || (isScalar(pair.value) && pair.value.value === null))) pair.value = new YAMLMap()
}

function apiVersionAbsent(file: YamlFile): Finding {
  return finding({
    id: 'config.api-version',
    severity: 'warning',
    summary: 'apiVersion is missing; the file is read as mirror.openshift.io/v2alpha1, so write that',
    where: file.placeOf([]),
  })
}

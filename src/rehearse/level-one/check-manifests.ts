/** The manifests that the config carries into the cluster: whether cluster-bootstrap can create them. */
import { parseAllDocuments, YAMLError } from 'yaml'
import { type Finding, finding } from '../../errors/finding.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { BootstrapFile } from '../../openshift/bootstrap/bootstrap-file.ts'
import { isRecord, textAt } from '../../openshift/plain-record.ts'
import { evidenceText } from './config-places.ts'

const manifestPath = /^\/opt\/openshift\/(?:manifests|openshift)\/[^/]+\.(?:ya?ml|json)$/

export interface ManifestCheck {
  readonly findings: readonly Finding[]
  readonly manifests: number
}

export function checkManifests({ files }: Pick<BootstrapConfig, 'files'>): ManifestCheck {
  const all = [...files.values()].filter(({ path, flaw }) => manifestPath.test(path) && flaw === undefined)
  return { findings: all.flatMap(manifestFindings), manifests: all.length }
}

function manifestFindings(file: BootstrapFile): readonly Finding[] {
  const flaw = flawOf(file)
  if (flaw === undefined) return []
  const { path } = file
  const { line, why } = flaw
  const at = { file: path, line }
  return [
    finding({
      id: 'rehearse.cluster-manifest-invalid',
      severity: 'error',
      summary: `${path} cannot be created in the cluster: ${why}`,
      evidence: evidenceText(at),
      remedy:
        'cluster-bootstrap tries it again and again, and the bootstrap does not end. Correct the file in manifests/ or openshift/ of the installer, and make the Ignition configs anew: oc create --dry-run=client -f FILE shows what is wrong.',
      where: at,
    }),
  ]
}

interface Flaw {
  readonly line: number
  readonly why: string
}

function flawOf({ text }: BootstrapFile): Flaw | undefined {
  if (text.trimStart().startsWith('{')) return jsonFlaw(text)
  try {
    const documents = parseAllDocuments(text, { logLevel: 'error', prettyErrors: true })
    if (!Array.isArray(documents)) return undefined
    for (const document of documents) {
      const [error] = document.errors
      if (error !== undefined) return yamlFlaw(error)
      const why = shapeFlaw(document.toJS())
      if (why !== undefined) return { line: lineOf(text, document.range[0]), why }
    }
    return undefined
  } catch (error) {
    if (error instanceof YAMLError) return yamlFlaw(error)
    if (error instanceof ReferenceError) return { line: 1, why: error.message }
    throw error
  }
}

function yamlFlaw({ message, linePos }: YAMLError): Flaw {
  // Below the first line it quotes the text, which may be a Secret.
  const [first = 'no YAML'] = message.split('\n')
  return { line: linePos?.[0].line ?? 1, why: `no YAML: ${first.replace(/ at line \d+, column \d+:?$/, '')}` }
}

function jsonFlaw(text: string): Flaw | undefined {
  try {
    const why = shapeFlaw(JSON.parse(text))
    return why === undefined ? undefined : { line: 1, why }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // Its message quotes the text.
    return { line: 1, why: 'no JSON' }
  }
}

/** An empty document is passed over. */
function shapeFlaw(document: unknown): string | undefined {
  if (document === null || document === undefined) return undefined
  if (!isRecord(document)) return 'no object of Kubernetes'
  const absent = [['apiVersion'], ['kind']].filter((path) => textAt(document, ...path) === undefined)
  if (absent.length > 0) return `no object of Kubernetes: it has no ${absent.flat().join(' and no ')}`
  if (document['kind'] === 'List') return undefined
  return (textAt(document, 'metadata', 'name') ?? textAt(document, 'metadata', 'generateName'))
    ? undefined
    : `the ${String(document['kind'])} has no metadata.name`
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

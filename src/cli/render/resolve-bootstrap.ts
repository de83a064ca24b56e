/** What `resolve --bootstrap` prints: for every image what the bootstrap host tries, and what the nodes do. */
import type { Finding } from '../../errors/finding.ts'
import { renderFindings } from './findings.ts'
import { type Outcome, outcomeDocument, outcomeLines } from './resolve.ts'

interface Side {
  /** Paths within the config that it comes from. */
  readonly files: readonly string[]
  /** In the order of the images. */
  readonly outcomes: readonly Outcome[]
}

export interface BootstrapSides {
  readonly fileName: string
  readonly bootstrap: Side
  /** Without outcomes where the machine config operator refuses the manifests. */
  readonly nodes: Omit<Side, 'outcomes'> & {
    readonly outcomes: readonly Outcome[] | undefined
    readonly findings: readonly Finding[]
  }
}

export function renderSides({ fileName, bootstrap, nodes }: BootstrapSides): string {
  const images = bootstrap.outcomes.map((outcome, index) => {
    const other = nodes.outcomes?.[index]
    const own = outcomeLines(outcome)
    const theirs =
      other === undefined ? ['  none: the machine config operator refuses the manifests'] : outcomeLines(other)
    const isSame = own.join('\n') === theirs.join('\n')
    const sides = isSame ? ['  bootstrap host and nodes', ...own] : ['  bootstrap host', ...own, '  nodes', ...theirs]
    return [outcome.asked, ...sides].join('\n')
  })
  const read = `read ${fileName}: ${listOf(bootstrap.files)} for the bootstrap host, ${listOf(nodes.files)} for the nodes`
  const findings = nodes.findings.length === 0 ? [] : [renderFindings(nodes.findings).trimEnd()]
  return `${[...images, read, ...findings].join('\n\n')}\n`
}

function listOf(files: readonly string[]): string {
  return files.length === 0 ? 'nothing' : files.join(', ')
}

/** What `--json` prints. */
export function sidesDocument({ fileName, bootstrap, nodes }: BootstrapSides): object {
  const images = bootstrap.outcomes.map((outcome, index) => {
    const other = nodes.outcomes?.[index]
    return {
      reference: outcome.asked,
      bootstrap: outcomeDocument(outcome),
      ...(other !== undefined && { nodes: outcomeDocument(other) }),
    }
  })
  return {
    bootstrap: fileName,
    files: { bootstrap: bootstrap.files, nodes: nodes.files },
    images,
    findings: nodes.findings,
  }
}

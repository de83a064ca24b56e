/** What a lab needs of this machine, told before anything is made. */
import { type Finding, finding } from '../../errors/finding.ts'
import { findProgram } from '../../provision/lab/lab-programs.ts'
import { probeLab } from '../../provision/lab/probe-lab.ts'
import type { WorkflowStep } from '../../workflow/workflow.ts'
import type { StageParts } from './stage-parts.ts'
import { StagePlacer } from './stage-placer.ts'

/**
 * What is missing without which one of these steps fails for certain is an error; that a lab proves less, a warning.
 *
 * @param steps those that would be run
 */
export async function labPreflight(
  { site, env, clock, user }: StageParts,
  steps: readonly WorkflowStep[],
): Promise<readonly Finding[]> {
  const { lab } = site.platform
  if (lab === undefined) return []
  const host = { env, clock }
  const { mode, squid } = await probeLab(host, user)
  const runs = (id: string) => steps.some(({ outline, skipWhy }) => outline.id === id && skipWhy === undefined)
  const needsProxy = site.proxy !== undefined || !new StagePlacer(site).hasMirror
  const findings: Finding[] = []
  if (mode.kind === 'loopback' && lab.network !== 'loopback') {
    const isMust = lab.network === 'namespaces'
    findings.push({
      id: isMust ? 'lab.no-namespaces' : 'lab.loopback',
      severity: isMust ? 'error' : 'warning',
      summary: isMust
        ? `The lab cannot have network namespaces here: ${mode.why}`
        : `The lab has no gap, all sites are 127.0.0.1, and nothing is proven by packets: ${mode.why}`,
      remedy: mode.remedy,
    })
  }
  if (runs('02-bastion/host') && needsProxy && squid === undefined) {
    findings.push(missing('squid', '02-bastion/host starts a proxy with it, and this site needs one'))
  }
  if (runs('08-install/nodes') && (await findProgram(host, 'skopeo')) === undefined) {
    findings.push(missing('skopeo', '08-install/nodes pulls images with it'))
  }
  return findings.map(finding)
}

function missing(program: string, why: string): Finding {
  return {
    id: 'lab.program-missing',
    severity: 'error',
    summary: `${program} is not installed: ${why}`,
    remedy: `Install the package ${program}.`,
  }
}

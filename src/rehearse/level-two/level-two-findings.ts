/** What level 2 has to say beyond its report: which unit does not come up, at which stage, and with which words. */
import { type Finding, finding } from '../../errors/finding.ts'
import type { LevelTwoReport, RehearsedUnit } from './level-two-report.ts'

/** Lines of the journal that go into the evidence. */
const shownLines = 6

export function levelTwoFindings({ unavailable, units, unknownPrograms }: LevelTwoReport): readonly Finding[] {
  if (unavailable !== undefined) return [noSandbox(unavailable)]
  const broken = units.filter(({ outcome }) => ['failed', 'looping', 'timed-out'].includes(outcome))
  const idle = units.filter(({ outcome }) => outcome === 'not-started').map(({ name }) => name)
  const unknown = unknownPrograms.length === 0 ? [] : [unknownProgram(unknownPrograms)]
  return [...broken.map((unit) => brokenUnit(unit, idle)), ...unknown]
}

/** The unit that ends it all: the first that does not come up. */
export function firstBroken({ units }: LevelTwoReport): RehearsedUnit | undefined {
  return units.find(({ outcome }) => outcome === 'failed' || outcome === 'looping' || outcome === 'timed-out')
}

const verbs: Readonly<Record<string, string>> = {
  failed: 'fails',
  looping: 'tries the same again and again, and on the machine would never end',
  'timed-out': 'was not done when the time of the rehearsal was up',
}

function brokenUnit(unit: RehearsedUnit, idle: readonly string[]): Finding {
  const { name, outcome, stage, journal, failedCalls } = unit
  const where = stage === undefined ? name : `${name}, stage ${stage},`
  const waiting = idle.length === 0 ? '' : `; ${idle.join(', ')} ${idle.length === 1 ? 'is' : 'are'} never started`
  const calls = failedCalls.map(({ command, status }) => `${command} ended with ${status}`)
  const lines = journal.slice(-shownLines)
  return finding({
    id: `rehearse.unit-${outcome === 'failed' ? 'fails' : outcome === 'looping' ? 'loops' : 'timed-out'}`,
    severity: 'error',
    summary: `${where} ${verbs[outcome]}${waiting}`,
    evidence: [...calls.slice(-1), ...lines].join('\n'),
    remedy:
      failedCalls.length > 0
        ? 'The call above is what fails: the findings about images, names and certificates say why, and what to do.'
        : `These lines are the last of its journal. Look at its script in the config: sallyport ignition inspect FILE --cat ${scriptOf(unit)}`,
    where: { file: scriptOf(unit) },
  })
}

/** Where a person looks first. */
function scriptOf({ name, record, journal }: RehearsedUnit): string {
  const places = [record?.findLast(({ errorLine }) => errorLine !== undefined)?.errorLine, ...journal.toReversed()]
  const found = places.map((text) => /(\/usr\/local\/bin\/[\w.-]+\.sh)/.exec(text ?? '')?.[1]).find(Boolean)
  return found ?? `/etc/systemd/system/${name}`
}

function noSandbox(why: string): Finding {
  return finding({
    id: 'rehearse.sandbox-unavailable',
    severity: 'warning',
    summary: `the scripts of the config were not run: ${why}`,
    remedy:
      'Level 1 holds all the same. For level 2 use a Linux machine with bash and util-linux where user namespaces are allowed (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces).',
  })
}

function unknownProgram(names: readonly string[]): Finding {
  return finding({
    id: 'rehearse.program-unknown',
    severity: 'info',
    summary: `scripts call ${names.join(', ')}, which the rehearsal does not know: taken as successful`,
    remedy: 'What they would do on the machine is not proven. Where they come from a patch of yours, try them there.',
  })
}

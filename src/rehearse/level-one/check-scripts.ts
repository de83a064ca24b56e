/**
 * The scripts of the config: whether their shell understands them (`bash -n`), and whether what they start and source is
 * there.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import type { Env } from '../../host/env.ts'
import { exec } from '../../host/exec.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import {
  type BootstrapFile,
  type BootstrapFiles,
  type Evidence,
  lineAt,
} from '../../openshift/bootstrap/bootstrap-file.ts'
import { shellCommands } from '../../openshift/bootstrap/shell-lines.ts'
import { ShellValues } from '../../openshift/bootstrap/shell-values.ts'
import { modeFinding } from './check-units.ts'
import { evidenceText } from './config-places.ts'

export interface ScriptCheck {
  readonly findings: readonly Finding[]
  readonly scripts: number
  /** Why the shell was not asked. */
  readonly skipped?: string
}

export async function checkScripts(
  bootstrap: BootstrapConfig,
  options: { env: Env; signal: AbortSignal },
): Promise<ScriptCheck> {
  const scripts = [...bootstrap.files.values()].filter(isShellScript)
  const ofWindows = scripts.flatMap(carriageReturns)
  const others = [...calledScripts(scripts, bootstrap.files), ...generators(bootstrap.files)]
  const { faults, skipped } = await askShell(
    scripts.filter(({ path }) => !ofWindows.some(({ where }) => where?.file === path)),
    options,
  )
  const end = faults.some(({ where }) => where?.file === bootkube) ? [] : endOfBootkube(bootstrap)
  return {
    findings: [...ofWindows, ...faults, ...end, ...others],
    scripts: scripts.length,
    ...(skipped !== undefined && { skipped }),
  }
}

async function askShell(scripts: readonly BootstrapFile[], options: { env: Env; signal: AbortSignal }) {
  try {
    const parsed = await mapConcurrently(scripts, 4, (script) => shellFaults(script, options))
    return { faults: parsed.flat() }
  } catch (error) {
    if (!(error instanceof KnownError) || error.code !== 'PROGRAM_FAILED') throw error
    return { faults: [], skipped: 'bash is not on this machine: the syntax of scripts was not checked' }
  }
}

function isShellScript({ path, text }: BootstrapFile): boolean {
  return /^#!.*\b(?:ba|da)?sh\b/.test(text) || (text !== '' && path.endsWith('.sh'))
}

async function shellFaults(
  script: BootstrapFile,
  { env, signal }: { env: Env; signal: AbortSignal },
): Promise<readonly Finding[]> {
  const { path, text } = script
  const { PATH } = env
  const { status, stderr } = await exec('bash', ['-n'], { env: { PATH, LC_ALL: 'C' }, input: text, signal })
  if (status === 0) return []
  const [, line = '1', message = stderr.trim()] = /line (\d+): (.*)/.exec(stderr) ?? []
  return [invalid({ file: path, line: Number(line) }, `bash -n: ${message}`)]
}

function invalid(at: Evidence, why: string): Finding {
  return finding({
    id: 'rehearse.script-invalid',
    severity: 'error',
    summary: `${at.file} does not run: ${why}`,
    evidence: evidenceText(at),
    remedy: `Look at it (sallyport ignition inspect FILE --cat ${at.file}), and take it anew from the installer, or correct the patch that changed it.`,
    where: at,
  })
}

/** `/usr/bin/env: 'bash\r': No such file or directory`. */
function carriageReturns({ path, text }: BootstrapFile): readonly Finding[] {
  const end = text.indexOf('\n')
  if (end <= 0 || text[end - 1] !== '\r') return []
  return [invalid({ file: path, line: 1 }, 'its lines end with CR LF, so that no interpreter of that name is found')]
}

const ownPath = /\/(?:usr\/local\/(?:s?bin)|opt)\/[\w./-]+/
const called = new RegExp(
  `(?:^|[;&|(]\\s*|\\b(?:then|do|else|exec|sudo|time|if|while|until)\\s+|!\\s+)["']?(${ownPath.source})`,
  'g',
)
const sourced = new RegExp(`(?:^|[;&|(]\\s*)(?:\\.|source)\\s+["']?(${ownPath.source})`, 'g')

interface Call {
  readonly path: string
  readonly isSourced: boolean
  readonly at: Evidence
  /** False where a condition stands around it that nobody can decide here. */
  readonly isCertain: boolean
}

/** Each script that is called and is not there, or may not run, once: with everybody who calls it. */
function calledScripts(scripts: readonly BootstrapFile[], files: BootstrapFiles): readonly Finding[] {
  const calls = Map.groupBy(scripts.flatMap(callsIn), ({ path }) => path)
  return [...calls].flatMap(([path, all]) => {
    const file = files.get(path)
    if (file === undefined) return isMade(path, files) ? [] : [missing(path, all)]
    const run = all.find(({ isSourced }) => !isSourced)
    return run === undefined || (file.mode & 0o111) !== 0 ? [] : [modeFinding(run.at.file, file, run.at)]
  })
}

function callsIn(script: BootstrapFile): readonly Call[] {
  const values = new ShellValues()
  return shellCommands(script.text).flatMap(({ text, line, conditions }) => {
    const decisions = conditions.map((condition) => values.decide(condition))
    const isCertain = decisions.every((decision) => decision === true)
    if (decisions.includes(false)) return []
    values.learn(text, isCertain)
    const at = { file: script.path, line }
    const found = (pattern: RegExp, isSourced: boolean) =>
      [...text.matchAll(pattern)].map(({ 1: path = '' }) => ({ path, isSourced, at, isCertain }))
    return [...found(called, false), ...found(sourced, true)].filter(({ path }) => isScriptPath(path))
  })
}

function isScriptPath(path: string): boolean {
  return path.startsWith('/usr/local/') || path.endsWith('.sh')
}

/** Some script writes it before it is called: a redirection, a copy, a download to that very path. */
function isMade(path: string, files: BootstrapFiles): boolean {
  const name = path.replaceAll('.', '\\.')
  const making = new RegExp(`(?:>\\s*|\\b(?:cp|mv|install|ln|tee|chmod)\\b[^\\n]*|-o\\s*|--output[= ])["']?${name}`)
  return [...files.values()].some(({ text }) => making.test(text))
}

function missing(path: string, calls: readonly Call[]): Finding {
  const [first] = calls
  const callers = [...new Set(calls.map(({ at }) => at.file))].join(', ')
  return finding({
    id: 'rehearse.script-missing',
    severity: calls.some(({ isCertain }) => isCertain) ? 'error' : 'info',
    summary: `The config does not have ${path}, which ${callers} ${callers.includes(',') ? 'call' : 'calls'}`,
    evidence: evidenceText(...calls.slice(0, 4).map(({ at }) => at)),
    remedy: `Take ${path} from a config that the same installer makes, and add it: sallyport ignition patch FILE --file ${path}=SCRIPT:0755.`,
    ...(first && { where: first.at }),
  })
}

function generators(files: BootstrapFiles): readonly Finding[] {
  return [...files.values()]
    .filter(({ path, mode }) => path.startsWith('/etc/systemd/system-generators/') && (mode & 0o111) === 0)
    .map((file) => modeFinding('systemd', file, { file: file.path, line: 1 }))
}

const bootkube = '/usr/local/bin/bootkube.sh'
const mark = '.bootkube.done'

/** Its unit waits for the mark that only its last lines make: a script that is cut runs through, and is started for ever. */
function endOfBootkube({ files, units }: BootstrapConfig): readonly Finding[] {
  const script = files.get(bootkube)
  const isAwaited = units.some(({ name, text }) => name === 'bootkube.service' && text?.includes(mark))
  if (script === undefined || script.flaw !== undefined || !isAwaited || script.text.includes(mark)) return []
  const at = { file: bootkube, line: lineAt(script.text, script.text.length) }
  return [invalid(at, `it never makes /opt/openshift/${mark}, so its end is missing`)]
}

/**
 * Runs a tool that was extracted and compares what it says of itself with the release that was put into it.
 *
 * Sources: openshift/installer `cmd/openshift-install/version.go`, openshift/oc `pkg/cli/version/version.go`,
 * openshift/cloud-credential-operator `cmd/ccoctl` (which has no version to tell).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import { type ExecResult, exec } from '../host/exec.ts'
import type { ExtractedTool } from './extract-tools.ts'
import type { ReleaseMark } from './patch-binary.ts'
import type { ToolPlatform } from './tools.ts'

export type ToolCheck =
  /** It ran and says what was put into it. */
  | { readonly outcome: 'confirmed'; readonly says: readonly string[] }
  /** It ran and says something else. */
  | { readonly outcome: 'differs'; readonly differences: readonly string[] }
  /** It was not run, or does not run here; nothing is known. */
  | { readonly outcome: 'not-run'; readonly why: string }

export interface CheckOptions {
  readonly clock: Clock
  /** This machine; undefined where no tool is made for it. */
  readonly machine: ToolPlatform | undefined
  readonly signal?: AbortSignal
  /** Default: one minute. */
  readonly timeoutMs?: number
}

const usualTimeoutMs = 60_000

/** Never throws for what the tool does. */
export async function checkTool(extracted: ExtractedTool, options: CheckOptions): Promise<ToolCheck> {
  const { tool, file } = extracted
  const { machine } = options
  if (machine?.os !== tool.os || machine.architecture !== tool.architecture)
    return { outcome: 'not-run', why: `it is for ${tool.os}/${tool.architecture}` }
  const result = await run(file, argumentsFor(tool.command), options)
  if ('why' in result) return { outcome: 'not-run', why: result.why }
  if (result.status !== 0) return { outcome: 'not-run', why: whyFailed(result) }
  return compare(extracted, result)
}

function argumentsFor(command: string): readonly string[] {
  if (command.startsWith('ccoctl')) return ['--help']
  return /^(?:oc|kubectl)/.test(command) ? ['version', '--client'] : ['version']
}

async function run(
  file: string,
  args: readonly string[],
  { clock, signal, timeoutMs = usualTimeoutMs }: CheckOptions,
): Promise<ExecResult | { readonly why: string }> {
  const late = new AbortController()
  const cancel = clock.after(timeoutMs, () => late.abort())
  // No kubeconfig, no cache, no proxy: what it says must not depend on who runs this.
  const home = await mkdtemp(join(dirname(file), '.home-'))
  try {
    return await exec(file, args, {
      env: { HOME: home, PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      signal: AbortSignal.any([late.signal, ...(signal ? [signal] : [])]),
    })
  } catch (error) {
    signal?.throwIfAborted()
    if (late.signal.aborted) return { why: `it did not end within ${timeoutMs / 1000} s` }
    if (error instanceof KnownError) return { why: error.message }
    throw error
  } finally {
    cancel()
    await rm(home, { recursive: true, force: true })
  }
}

function whyFailed({ status, stderr }: ExecResult): string {
  const said = stderr.trim().split('\n').at(-1) ?? ''
  return `it ended with status ${status}${said === '' ? '' : `: ${said.slice(0, 300)}`}`
}

/** What each line says; the installer writes the architecture without what oc puts around it (`pkg/version:cleanArch`). */
const lines: Readonly<Record<ReleaseMark, { readonly pattern: RegExp; readonly shown: (value: string) => string }>> = {
  version: {
    pattern: /^(?:Client Version:|.*openshift-[\w-]*install[\w-]*) v?(?<said>\S+)$/m,
    shown: (value) => value,
  },
  image: { pattern: /^release image (?<said>\S+)$/m, shown: (value) => value },
  architecture: {
    pattern: /^release architecture (?<said>\S+)$/m,
    shown: (value) => (value.startsWith('multi') ? 'multi' : value.replace('linux/', '')),
  },
}

function compare({ tool, marks }: ExtractedTool, { stdout }: ExecResult): ToolCheck {
  const says: string[] = []
  const differences: string[] = []
  // kubectl tells the version of Kubernetes.
  const asked = tool.command === 'kubectl' ? {} : marks
  for (const [mark, value] of Object.entries(asked) as [ReleaseMark, string][]) {
    const { pattern, shown } = lines[mark]
    const said = pattern.exec(stdout)?.groups?.['said']
    if (said === undefined) {
      // What it installs it always tells; the rest came with later versions.
      if (mark === 'image') differences.push(`image: it names none, and ${value} was put into it`)
      continue
    }
    if (said === shown(value)) says.push(`${mark} ${said}`)
    else differences.push(`${mark}: it says ${said}, and ${shown(value)} was put into it`)
  }
  return differences.length > 0 ? { outcome: 'differs', differences } : { outcome: 'confirmed', says }
}

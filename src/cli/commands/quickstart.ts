import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { type QuickstartResult, quickstart, type RunningQuickstart } from '../../flows/quickstart.ts'
import { removeSite } from '../../flows/quickstart-site.ts'
import type { QuickstartEvent } from '../../flows/quickstart-steps.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderIntroduction, renderOutcome, renderStep, renderStepBegun } from '../render/quickstart.ts'

interface Options {
  dir?: string
  keep?: boolean
}

const examples = `
Everything stays on this machine: two registries on loopback, on free ports, and one directory. Without --dir or --keep
that is a temporary one, removed at the end. Exit status: 0 everything was proven; 1 something was not; 130 interrupted.

Examples:
  sallyport quickstart                        half a minute at most, leaves nothing behind
  sallyport quickstart --dir ./quickstart     keep the files, to look at them
  sallyport quickstart --keep                 keep the files and serve both registries until Ctrl-C`

export function define(command: Command, host: CommandHost): void {
  command
    .description(
      'Takes a release of the shape of a real one across a gap on this machine, and proves each step: needs only Node.js.',
    )
    .option('--dir <dir>', 'put the files there (new or empty) and keep them')
    .option('--keep', 'keep the files, and serve both registries until Ctrl-C')
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      await run(options, host.context())
      host.done(0)
    })
}

async function run(options: Options, context: CliContext): Promise<void> {
  const isTemporary = options.dir === undefined
  const directory = options.dir === undefined ? await temporaryDirectory() : resolve(context.cwd, options.dir)
  let isKept = !isTemporary
  try {
    const { clock, log, env, signal, json, stdout } = context
    if (!json) stdout(renderIntroduction(directory))
    const running = await quickstart({ directory, clock, log, env, signal, onEvent: follow(context) })
    try {
      isKept ||= options.keep === true
      await show(running, { isKept, isServing: options.keep === true, context })
    } finally {
      await running.close()
    }
  } finally {
    clearLine(context)
    if (!isKept) await removeSite(directory)
  }
}

async function temporaryDirectory(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'sallyport-quickstart-'))
  } catch (cause) {
    const code = hasSystemCode(cause, 'ENOSPC', 'EDQUOT') ? 'DISK_FULL' : 'FILE_UNREADABLE'
    throw new KnownError(code, `Cannot make a directory in ${tmpdir()}`, {
      hint: 'Name a directory that this user may write to: --dir DIR.',
      cause,
    })
  }
}

/** One line redrawn while a step runs, and what it proved when it is done. */
function follow(context: CliContext): (event: QuickstartEvent) => void {
  const { json, isTerminal, stdout, stderr, emitEvent, clock } = context
  return (event) => {
    emitEvent?.({ at: clock.now(), ...event })
    clearLine(context)
    if (event.type === 'quickstart.step-began') {
      if (isTerminal) stderr(renderStepBegun(event.step))
    } else if (!json) stdout(renderStep(event.facts))
  }
}

function clearLine({ isTerminal, stderr }: CliContext): void {
  if (isTerminal) stderr('\r\u001b[2K')
}

interface Showing {
  readonly isKept: boolean
  readonly isServing: boolean
  readonly context: CliContext
}

async function show(running: RunningQuickstart, { isKept, isServing, context }: Showing): Promise<void> {
  const { result } = running
  const upstream = isServing ? await running.startUpstream() : undefined
  const { json, cwd, stdout, signal } = context
  stdout(json ? jsonOf(result, { isKept, upstream }) : renderOutcome({ result, isKept, upstream, cwd }))
  if (isServing && !signal.aborted) await once(signal, 'abort')
}

function jsonOf(result: QuickstartResult, { isKept, upstream }: { isKept: boolean; upstream?: string | undefined }) {
  const { files, ...facts } = result
  const urls = upstream === undefined ? {} : { upstream: { url: `http://${upstream}`, address: upstream } }
  return `${JSON.stringify({ ...facts, ...urls, isServing: upstream !== undefined, ...(isKept && { files }) })}\n`
}

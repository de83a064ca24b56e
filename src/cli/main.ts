#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=15
/**
 * The command line. Collaborators are built here and passed down; errors end here, once.
 *
 * A command's module is loaded only when it is asked for, so that `--help` costs no more than this file and commander.
 *
 * The flags above bound the space for young objects, and how far the heap grows before old ones are collected: without
 * them ten thousand images leave 100 to 200 MiB of dead ones about, with them they cost a tenth more CPU.
 */
import { Command, CommanderError } from 'commander'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { systemClock } from '../host/clock.ts'
import { processEnv } from '../host/env.ts'
import { createLog, type LogLevel, logLevels } from '../host/log.ts'
import { commands } from './commands.ts'
import type { CliContext } from './context.ts'
import { hasEventReader, openEvents } from './event-output.ts'
import { knownRefusal } from './refused-path.ts'
import { errorDocument, renderError } from './render/error.ts'
import { version } from './version.ts'

const examples = `
Examples:
  sallyport quickstart                                   the whole job on this machine, nothing needed
  sallyport mirror -c isc.yaml --workspace file:///srv/mirror docker://registry.lab:8443/ocp
  sallyport resolve quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:… --registries-conf registries.conf
  sallyport registry serve --root /var/lib/sallyport --listen 0.0.0.0:8443 --self-signed`

/** What people say with Ctrl-C. */
type Interruption = Pick<CliContext, 'signal' | 'leaving'>

interface GlobalOptions {
  json?: boolean
  events?: string
  logLevel: LogLevel
  color: boolean
}

function createProgram(): Command {
  const program = new Command('sallyport')
    .description(
      'Takes an OpenShift release across an air gap, and proves that the cluster needs nothing from outside.',
    )
    .version(version, '-V, --version')
    .option('--json', 'print the result as one JSON document on standard output')
    .option('--events <file>', 'append progress as one JSON event a line; - is standard output')
    .option('--log-level <level>', `how much to tell on standard error: ${logLevels.join(', ')}`, 'warn')
    .option('--no-color', 'no colours')
    .enablePositionalOptions()
    .showHelpAfterError('(run with --help: it ends with examples)')
    .addHelpText('after', examples)
  return program
}

function createContext(options: GlobalOptions, { signal, leaving }: Interruption): CliContext {
  const env = processEnv()
  const stdout = (text: string) => void process.stdout.write(text)
  const stderr = (text: string) => void process.stderr.write(text)
  const { events } = options
  const log = createLog(options.logLevel, (line, level) => stderr(`${level}: ${line}\n`))
  return {
    env,
    clock: systemClock,
    cwd: process.cwd(),
    self: [process.execPath, process.argv[1] ?? ''],
    // Elsewhere than on POSIX there is no such number, and nobody who may make namespaces.
    user: { platform: process.platform, uid: process.getuid?.() ?? -1 },
    log,
    signal,
    leaving,
    json: options.json === true,
    emitEvent: events === undefined ? undefined : openEvents(events, { stdout, log }),
    stdout,
    stderr,
    isTerminal: process.stderr.isTTY === true && env['TERM'] !== 'dumb',
    color: options.color && process.stderr.isTTY === true && env['NO_COLOR'] === undefined,
  }
}

interface Arguments {
  /** Global options, wherever they stood. */
  readonly global: readonly string[]
  /** The command and what belongs to it. */
  readonly rest: readonly string[]
}

/** People write `mirror … --json` as often as `--json mirror …`: both mean the same. */
function splitArguments(argv: readonly string[]): Arguments {
  const global: string[] = []
  const rest: string[] = []
  const end = argv.indexOf('--')
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? ''
    const isOption = end < 0 || index < end
    if (isOption && /^--(?:json|no-color|(?:events|log-level)=.*)$/.test(word)) global.push(word)
    else if (isOption && /^--(?:events|log-level)$/.test(word)) {
      global.push(word, ...argv.slice(index + 1, index + 2))
      index += 1
    } else rest.push(word)
  }
  return { global, rest }
}

async function run(argv: readonly string[], interruption: Interruption): Promise<number> {
  const program = createProgram()
  const { global, rest } = splitArguments(argv)
  const asked = rest.find((word) => !word.startsWith('-'))
  let status = 0
  for (const entry of commands) {
    if (entry.name !== asked) {
      program.command(entry.name).summary(entry.summary)
      continue
    }
    const { define } = await entry.load()
    define(program.command(entry.name).summary(entry.summary), {
      context: () => createContext(program.opts<GlobalOptions>(), interruption),
      done: (result) => {
        status = result
      },
    })
  }
  for (const command of withDescendants(program)) command.exitOverride()
  await program.parseAsync([...global, ...rest], { from: 'user' })
  return status
}

function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)]
}

async function main(): Promise<void> {
  const interrupted = new AbortController()
  const leaving = new AbortController()
  const onSignal = () => {
    if (interrupted.signal.aborted) {
      // Who listens ends its processes before this call returns: nothing comes after it.
      leaving.abort(new KnownError('INTERRUPTED', 'Interrupted'))
      process.exit(130)
    }
    process.stderr.write('\nstopping; press Ctrl-C again to leave at once\n')
    interrupted.abort(new KnownError('INTERRUPTED', 'Interrupted'))
  }
  // `sallyport … | head`: who stopped reading wants no more.
  process.stdout.on('error', (error) => {
    const isBroken = hasSystemCode(error, 'EPIPE')
    if (!(isBroken && hasEventReader(process.argv))) process.exit(isBroken ? 0 : 1)
  })
  // `sallyport run … 2>&1 | head`, or a terminal that was closed: what is said is lost, and what is done is not.
  process.stderr.on('error', () => undefined)
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  const argv = process.argv.slice(2)
  try {
    checkNode()
    process.exitCode = await run(argv.length === 0 ? ['--help'] : argv, {
      signal: interrupted.signal,
      leaving: leaving.signal,
    })
  } catch (error) {
    process.exitCode = endWith(knownRefusal(error), argv)
  }
}

const oldestNode = 24

/** Before a command is loaded: what it imports is not there in an older one. */
function checkNode(): void {
  const { node } = process.versions
  if (Number.parseInt(node, 10) >= oldestNode) return
  throw new KnownError('USAGE', `sallyport needs Node.js ${oldestNode} or newer, and this is ${node}`, {
    details: { node },
    hint: 'In a checkout npx sallyport uses the one that npm ci brought. Elsewhere install a newer Node.js and put it first on the PATH.',
  })
}

function endWith(thrown: unknown, argv: readonly string[]): number {
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0
  const isTold = thrown instanceof CommanderError
  const error = isTold ? new KnownError('USAGE', thrown.message.replace(/^error: /, '')) : thrown
  if (!isTold) process.stderr.write(renderError(error))
  if (argv.includes('--json')) process.stdout.write(`${JSON.stringify(errorDocument(error))}\n`)
  return error instanceof KnownError ? error.exitCode : 1
}

await main()

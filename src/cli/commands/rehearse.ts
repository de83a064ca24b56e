/** `rehearse`: would a host that boots from this config come up, in the network as it is now. */

import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { RehearsalReport } from '../../rehearse/rehearsal-report.ts'
import { rehearse } from '../../rehearse/rehearse.ts'
import { writeStaged } from '../../store/staged-write.ts'
import { readArchitecture } from '../architectures.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { readDurationMs } from '../flag-values.ts'
import { renderRehearsal } from '../render/rehearsal.ts'
import { rehearsalPage } from '../render/rehearsal-page.ts'
import { collect } from '../repeated-values.ts'
import { version } from '../version.ts'

type Pair = readonly [name: string, address: string]

interface Options {
  via?: readonly Pair[]
  level: '1' | '2'
  report?: string
  architecture?: string
  connected?: boolean
  /** Milliseconds. */
  timeout?: number
  accept?: readonly string[]
}

const defaultTimeoutMs = 10_000

const details = `
Level 1 asks for everything that the host and the nodes will ask for: images with config and layers, names, certificates,
clocks; each through the registries.conf, with the trust and the credentials that stand in the file, and with nothing of
this machine. Level 2 runs the scripts of the file in a sandbox against what level 1 found, and needs Linux with user
namespaces. Nothing is changed anywhere: not in the file, not at the mirror, not on this machine.

Run it where the network is that of the machines to be. Every finding, and what a rehearsal does not prove: docs/rehearse.md.
Exit status: 0; 1 where a finding is an error; 64 where an option is wrong.

Examples:
  sallyport rehearse bootstrap.ign
  sallyport rehearse bootstrap.ign --via mirror.lab=192.0.2.10 --via api.c1.lab=192.0.2.20 --via api-int.c1.lab=192.0.2.20
  sallyport rehearse bootstrap.ign --report rehearsal.html        to attach to a ticket
  sallyport rehearse bootstrap.ign --level 1 --json | jq -r '.findings[] | [.severity, .id, .summary] | @tsv'`

export function define(command: Command, host: CommandHost): void {
  command
    .description('Would the bootstrap come up: everything that it will ask for is asked now, and its scripts are run.')
    .argument('<file>', 'bootstrap.ign, as openshift-install create ignition-configs writes it')
    .option('--via <host=address>', 'where a name is that DNS here does not know; again for another', collectPair)
    .addOption(new Option('--level <n>', '1: ask the network; 2: run the scripts too').choices(['1', '2']).default('2'))
    .option('--report <file>', 'write the report as one HTML file')
    .option('--architecture <name>', 'of the control plane (default: what the config says)', readArchitecture)
    .option('--connected', 'ask registries of the Internet too: the machines will have a way there')
    .option('--timeout <duration>', 'for a connection, and for every answer (default: 10s)', readDurationMs)
    .option('--accept <id>', 'take a finding upon yourself: it counts as a note; again for another', collect)
    .addHelpText('after', details)
    .action(async (file: string, options: Options) => {
      host.done(await run(file, options, host.context()))
    })
}

async function run(fileName: string, options: Options, context: CliContext): Promise<number> {
  const { clock, log, env, cwd, signal, stdout, json } = context
  const text = await readTextFile(resolve(cwd, fileName))
  const { architecture, report: reportFile } = options
  const report = await rehearse(
    { text, fileName },
    {
      clock,
      log,
      env,
      signal,
      level: options.level === '1' ? 1 : 2,
      via: new Map(options.via ?? []),
      timeoutMs: options.timeout ?? defaultTimeoutMs,
      isConnected: options.connected === true,
      accepted: options.accept ?? [],
      ...(architecture !== undefined && { architecture }),
      onUnit: follow(context),
    },
  ).catch((error: unknown) => {
    throw signal.aborted ? interrupted : error
  })
  if (reportFile !== undefined) await writeReport(resolve(cwd, reportFile), report)
  stdout(json ? `${JSON.stringify(report)}\n` : renderRehearsal(report, { reportFile }))
  return report.verdict.isSound ? 0 : 1
}

const interrupted = new KnownError('INTERRUPTED', 'Interrupted', {
  hint: 'Nothing was changed, here or at the mirror. Run the same command again: it begins anew.',
})

function writeReport(path: string, report: RehearsalReport): Promise<void> {
  const page = rehearsalPage(report, { version })
  return writeStaged(path, (file) => file.writeFile(page))
}

/** What runs just now, in one line that goes away. */
function follow({ isTerminal, json, stderr, emitEvent, clock }: CliContext): (name: string, outcome: string) => void {
  return (name, outcome) => {
    emitEvent?.({ at: clock.now(), type: 'rehearse.unit', unit: name, outcome })
    if (isTerminal && !json) stderr(`\r\u001b[K${outcome === 'started' ? `running ${name}` : ''}`)
  }
}

function collectPair(value: string, before: readonly Pair[] = []): readonly Pair[] {
  const at = value.indexOf('=')
  const [name, address] = [value.slice(0, Math.max(0, at)), value.slice(at + 1).replace(/^\[|\]$/g, '')]
  if (name === '' || isIP(address) === 0) throw new InvalidArgumentError('It has to be HOST=ADDRESS.')
  return [...before, [name.replace(/:\d+$/, ''), address]]
}

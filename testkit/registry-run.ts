/** Small step registries on the disk, and runs of their workflows with real processes. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { systemClock } from '../src/host/clock.ts'
import type { Phase } from '../src/journal/events.ts'
import { type RunOutcome, runWorkflow, type SessionRequest } from '../src/workflow/engine.ts'
import { endOrphans, processRunner } from '../src/workflow/process/process-runner.ts'
import { registryWorkflow } from '../src/workflow/registry-run/registry-workflow.ts'
import type { RegistryRunOptions } from '../src/workflow/registry-run/run-options.ts'
import { type RunDirectory, runDirectory } from '../src/workflow/run-directory.ts'
import { loadRegistry } from '../src/workflow/step-registry/load-registry.ts'
import type { LiteralStep, ResolvedWorkflow } from '../src/workflow/step-registry/model.ts'
import type { TestConfiguration } from '../src/workflow/step-registry/registry.ts'
import { resolveTest, resolveWorkflow } from '../src/workflow/step-registry/resolve-test.ts'
import { runNameIn } from './run-name.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'
import { openRunSettings } from './workflow-run.ts'

type StepSpec = string | (Partial<LiteralStep> & { readonly script: string })
/** Scripts by the names of their steps. */
type Scripts = Readonly<Record<string, StepSpec>>

export interface SmallWorkflow extends Partial<Record<Phase, Scripts>> {
  readonly observers?: Scripts
  /** Of the workflow, beside its steps. */
  readonly settings?: Partial<TestConfiguration>
}

/** Writes a registry with one workflow, `site`, and resolves that. */
export async function smallWorkflow(t: Cleanup, workflow: SmallWorkflow): Promise<ResolvedWorkflow> {
  const root = await tempDir(t)
  const phases: Record<string, { ref: string }[]> = {}
  for (const phase of ['pre', 'test', 'post'] as const) {
    const scripts = Object.entries(workflow[phase] ?? {})
    phases[phase] = scripts.map(([name]) => ({ ref: name }))
    for (const [name, spec] of scripts) await writeStep(root, { kind: 'ref', name, spec })
  }
  for (const [name, spec] of Object.entries(workflow.observers ?? {})) {
    await writeStep(root, { kind: 'observer', name, spec })
  }
  const enabled = Object.keys(workflow.observers ?? {})
  const observers = enabled.length > 0 && { observers: { enable: enabled } }
  await writeYaml(join(root, 'site', 'site-workflow.yaml'), {
    workflow: { as: 'site', steps: { ...phases, ...observers, ...workflow.settings }, documentation: 'A small one.' },
  })
  return resolveWorkflow(loadRegistry(root), 'site')
}

/** A test of a configuration of ci-operator, with the registry that it refers to. */
export async function configuredTest(
  t: Cleanup,
  { registry, steps }: { readonly registry?: string; readonly steps: TestConfiguration },
): Promise<ResolvedWorkflow> {
  return resolveTest(loadRegistry(registry ?? (await tempDir(t))), { name: 'e2e', steps })
}

interface WrittenStep {
  readonly kind: 'ref' | 'observer'
  readonly name: string
  readonly spec: StepSpec
}

async function writeStep(root: string, { kind, name, spec }: WrittenStep): Promise<void> {
  const { script, ...fields } = typeof spec === 'string' ? { script: spec } : spec
  const folder = join(root, ...name.split('-'))
  const commands = `${name}-commands.sh`
  const body = {
    [kind === 'ref' ? 'as' : 'name']: name,
    from: 'cli',
    commands,
    resources: { requests: { cpu: '10m', memory: '10Mi' } },
    documentation: 'Of a test.',
    ...fields,
  }
  await writeYaml(join(folder, `${name}-${kind}.yaml`), { [kind]: body })
  await writeFile(join(folder, commands), script)
}

async function writeYaml(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, stringify(value))
}

export interface RegistryTrial {
  readonly directory: RunDirectory
  readonly run: (
    resolved: ResolvedWorkflow,
    options?: Partial<RegistryRunOptions>,
    session?: Partial<SessionRequest> & { readonly signal?: AbortSignal },
  ) => Promise<RunOutcome>
  /** The directory of all runs. */
  readonly runs: string
  /** What is in the log of an attempt. */
  readonly log: (step: string, attempt?: number) => Promise<string>
  /** A file in the shared directory of the run. */
  readonly shared: (name: string) => Promise<string>
}

/** One run, in a directory of its own; each call of `run` is a session of it. */
export async function registryTrial(t: Cleanup): Promise<RegistryTrial> {
  return trialIn(await tempDir(t))
}

/** The same, for a process that a test kills. */
export function trialIn(runs: string): RegistryTrial {
  const directory = runDirectory(runs, runNameIn(runs))
  return {
    directory,
    runs,
    run: (resolved, options = {}, { signal, ...request } = {}) => {
      const settings = openRunSettings(runs, request)
      const workflow = registryWorkflow(resolved, { path: process.env['PATH'] ?? '', ...options })
      return runWorkflow(workflow, directory, {
        ...settings,
        host: {
          ...settings.host,
          processes: processRunner(systemClock),
          endOrphans: (cookie) => endOrphans(cookie, systemClock),
        },
        ...(signal && { signal }),
      })
    },
    log: (step, attempt = 1) => readFile(join(directory.root, 'logs', step, `${attempt}.log`), 'utf8'),
    shared: (name) => readFile(join(directory.shared, name), 'utf8'),
  }
}

/**
 * Renders a chart with the `helm` program: nothing else knows what its templates make of the values.
 *
 * Helm gets a home of its own, empty, so that nobody's repositories, plugins and logins are read or changed; it talks to no
 * cluster and to nothing else.
 *
 * Source: helm.sh/docs/helm/helm_template, helm.sh/docs/helm/helm (environment variables).
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { Env } from '../host/env.ts'
import { type ExecResult, exec } from '../host/exec.ts'

export interface HelmProgram {
  /** A path, or a name to be found on the PATH of `env`. Default: `helm`. */
  readonly path?: string | undefined
  /** Only PATH is passed on. */
  readonly env: Env
  readonly clock: Clock
  /** Version of Kubernetes that the charts are for: that of the releases mirrored. */
  readonly kubeVersion?: string | undefined
  /** In milliseconds, for one rendering. Default: two minutes. */
  readonly timeoutMs?: number
}

export interface Rendering {
  /** For messages: `chart podinfo 6.0.0`. */
  readonly what: string
  /** The packed chart. */
  readonly path: string
  /** What the chart is told of the cluster: a version of Kubernetes. */
  readonly kubeVersion: string
  /** Absolute paths of values files: the later ones win. None for the chart's own values. */
  readonly values: readonly string[]
  /** Helm's home of this one run is made here, and removed. */
  readonly directory: string
  readonly signal: AbortSignal
}

/** Charts look for these to find out whether they are on OpenShift, which is where they go: for versions, or for kinds. */
const openShiftApis = [
  'apps.openshift.io/v1',
  'config.openshift.io/v1',
  'image.openshift.io/v1',
  'monitoring.coreos.com/v1',
  'monitoring.coreos.com/v1/PrometheusRule',
  'monitoring.coreos.com/v1/ServiceMonitor',
  'operator.openshift.io/v1',
  'operators.coreos.com/v1alpha1',
  'project.openshift.io/v1',
  'route.openshift.io/v1',
  'route.openshift.io/v1/Route',
  'security.openshift.io/v1',
  'security.openshift.io/v1/SecurityContextConstraints',
]

const maxRenderedBytes = 64 * 1024 * 1024

/**
 * The manifests, with hooks, tests and CRDs, as one text of YAML documents.
 *
 * @throws KnownError HELM_ABSENT where there is no helm, HELM_FAILED with what it said
 */
export async function renderChart(rendering: Rendering, helm: HelmProgram): Promise<string> {
  const { what, directory, signal } = rendering
  await mkdir(directory, { recursive: true })
  const home = await mkdtemp(join(directory, 'helm-'))
  const time = limited(signal, helm)
  try {
    const { status, stdout, stderr } = await run(rendering, helm, { home, signal: time.signal })
    if (status === 0) return stdout
    throw failed(what, lastWords(stderr), rendering)
  } catch (error) {
    signal.throwIfAborted()
    if (time.signal.aborted) throw failed(what, `it was not done after ${timeoutOf(helm) / 1000} s`, rendering)
    throw error
  } finally {
    time.end()
    await rm(home, { recursive: true, force: true })
  }
}

async function run(
  { path, what, values, kubeVersion }: Rendering,
  { path: program = 'helm', env }: HelmProgram,
  { home, signal }: { readonly home: string; readonly signal: AbortSignal },
): Promise<ExecResult> {
  const args = [
    'template',
    'release-name',
    path,
    '--include-crds',
    '--kube-version',
    kubeVersion,
    ...openShiftApis.flatMap((api) => ['--api-versions', api]),
    ...values.flatMap((file) => ['--values', file]),
  ]
  try {
    return await exec(program, args, { env: emptyHome(home, env), signal, maxOutputBytes: maxRenderedBytes })
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    if (!hasSystemCode(error.cause, 'ENOENT', 'EACCES')) throw failed(what, error.message, { values, cause: error })
    throw new KnownError(
      'HELM_ABSENT',
      `${what}: its images are known only when it is rendered, and there is no program ${program}`,
      {
        details: { chart: what, program },
        cause: error,
      },
    )
  }
}

function emptyHome(home: string, env: Env): Env {
  const own = (name: string) => join(home, name)
  return {
    PATH: env['PATH'],
    HOME: home,
    TMPDIR: home,
    KUBECONFIG: own('no-kubeconfig'),
    HELM_CACHE_HOME: own('cache'),
    HELM_CONFIG_HOME: own('config'),
    HELM_DATA_HOME: own('data'),
    HELM_PLUGINS: own('plugins'),
    HELM_REGISTRY_CONFIG: own('registry.json'),
    HELM_REPOSITORY_CACHE: own('repository'),
    HELM_REPOSITORY_CONFIG: own('repositories.yaml'),
  }
}

function timeoutOf({ timeoutMs = 120_000 }: HelmProgram): number {
  return timeoutMs
}

function limited(signal: AbortSignal, helm: HelmProgram): { readonly signal: AbortSignal; readonly end: () => void } {
  const late = new AbortController()
  return { signal: AbortSignal.any([signal, late.signal]), end: helm.clock.after(timeoutOf(helm), () => late.abort()) }
}

/** Helm warns before it says what is wrong. */
function lastWords(stderr: string): string {
  const lines = stderr.trim().split('\n')
  const from = lines.findLastIndex((line) => line.startsWith('Error:'))
  return lines.slice(Math.max(from, 0)).join(' ').trim().slice(0, 2000) || 'it said nothing'
}

function failed(
  what: string,
  why: string,
  { values, cause }: { readonly values: readonly string[]; readonly cause?: unknown },
): KnownError {
  const by = values.length === 0 ? 'its own values' : values.join(', ')
  return new KnownError('HELM_FAILED', `${what}: helm cannot render it with ${by}: ${why}`, {
    details: { chart: what },
    cause,
  })
}

import { exec } from '../../host/exec.ts'
import type { StepCommand } from '../step.ts'
import type { LiteralStep } from '../step-registry/model.ts'
import { type CredentialMount, credentialMounts } from './credential-mounts.ts'
import type { ContainerOptions, RegistryRunOptions } from './run-options.ts'

/** Where ci-operator mounts the cluster profile, and where some scripts look for it without asking. */
export const profileMount = '/var/run/secrets/ci.openshift.io/cluster-profile'
/** Where the tools of `cli` are, behind those of the image (openshift/ci-tools: cmd/entrypoint-wrapper `manageCLI`). */
const withCli = ['/bin/sh', '-c', 'PATH="$PATH:$CLI_DIR"; export PATH; exec "$@"', 'sh']
/** podman needs them itself: the container gets its own in another way. */
const ownOfPodman = new Set(['PATH', 'HOME', 'TMPDIR'])

export interface ContainerOrder {
  readonly name: string
  readonly image: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** At the same paths within. */
  readonly writable: readonly string[]
  readonly literal: LiteralStep
}

/**
 * `podman run` for a script. Values of variables are in the environment of podman, by whose names it passes them on: its arguments
 * are visible to everybody on this machine.
 */
export function containerCommand(
  order: ContainerOrder,
  { options, container }: { readonly options: RegistryRunOptions; readonly container: ContainerOptions },
): Omit<StepCommand, 'first'> {
  const { name, image, env, cwd, writable, literal } = order
  const passed = Object.keys(env).filter((each) => !ownOfPodman.has(each))
  const own = ['HOME', 'TMPDIR'].flatMap((each) => (env[each] === undefined ? [] : ['--env', `${each}=${env[each]}`]))
  const argv = env['CLI_DIR'] === undefined ? order.argv : [...withCli, ...order.argv]
  return {
    argv: [
      ...[container.program, 'run', '--rm', '--name', name, '--label', `sallyport.run=${name}`],
      // Who calls podman owns the directories of the run; images with another user could not write there.
      ...['--user', '0:0'],
      // Steps reach what this machine reaches. Labels of files stay as they are.
      ...['--network', 'host', '--http-proxy=false', '--security-opt', 'label=disable', '--workdir', cwd],
      ...writable.flatMap((path) => ['--volume', `${path}:${path}`]),
      ...readOnlyMounts(literal, options).flatMap(({ from, to }) => ['--volume', `${from}:${to}:ro`]),
      ...own,
      ...[...passed, 'SALLYPORT_STEP'].flatMap((each) => ['--env', each]),
      ...['--entrypoint', '', image, ...argv],
    ],
    env: { ...container.env, ...Object.fromEntries(passed.map((each) => [each, env[each]])) },
    cwd,
  }
}

function readOnlyMounts(literal: LiteralStep, options: RegistryRunOptions): readonly Omit<CredentialMount, 'name'>[] {
  const { clusterProfileDir, cliDir } = options
  return [
    ...credentialMounts(literal, options),
    ...(clusterProfileDir === undefined ? [] : [{ from: clusterProfileDir, to: profileMount }]),
    ...(literal.cli === undefined || cliDir === undefined ? [] : [{ from: cliDir, to: cliDir }]),
  ]
}

/**
 * Ends containers by their names, which begin with that of their run: podman does not end them where it is killed itself.
 *
 * @returns how many there were
 * @throws KnownError PROGRAM_FAILED where podman cannot be run
 */
export async function removeContainers({ program, env }: ContainerOptions, namePattern: string): Promise<number> {
  const list = ['ps', '--all', '--quiet', '--filter', `name=${namePattern}`]
  const { stdout } = await exec(program, list, { env })
  const ids = stdout.split('\n').filter((id) => id !== '')
  if (ids.length > 0) await exec(program, ['rm', '--force', '--time', '0', ...ids], { env })
  return ids.length
}

/** The options that say what a run is made from. */

import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { KnownError } from '../errors/known-error.ts'
import type { RunDefinition } from '../flows/run-definition.ts'
import { defineRegistryRun, type RegistryOptions } from '../flows/run-definition-registry.ts'
import { defineSiteRun } from '../flows/run-definition-site.ts'
import type { CliContext } from './context.ts'
import { collectNamed } from './repeated-values.ts'

type Pairs = Readonly<Record<string, string>>

export interface SourceOptions {
  readonly registry?: string
  readonly file?: string
  readonly env?: Pairs
  readonly clusterProfile?: string
  readonly clusterType?: string
  readonly leasedResource?: Pairs
  readonly dependency?: Pairs
  readonly releaseImage?: Pairs
  readonly credential?: Pairs
  readonly allowMissingCredentials?: boolean
  readonly cliDir?: string
  readonly container?: 'podman'
  readonly image?: Pairs
}

export function addSourceOptions(command: Command): Command {
  return command
    .option('--registry <dir>', 'step registry that the workflow is of: ci-operator/step-registry of openshift/release')
    .option('-f, --file <file>', 'the site, for the built-in workflow (default: sallyport.yaml)')
    .option('--env <name=value>', 'a value for a parameter, above all others; again for another', collectNamed)
    .option('--cluster-profile <dir>', 'what scripts see as CLUSTER_PROFILE_DIR')
    .option('--cluster-type <type>', 'aws, gcp, … (default: what the registry says of the profile)')
    .option('--leased-resource <variable=value>', 'what a pool would lease; again for another', collectNamed)
    .option('--dependency <name=image>', 'a pull specification, by variable or name; again for another', collectNamed)
    .option('--release-image <name=image>', 'a release: latest, initial, …; again for another', collectNamed)
    .option('--credential <name=dir>', 'the files of a credential; again for another', collectNamed)
    .option('--allow-missing-credentials', 'run steps although what they mount is not there')
    .option('--cli-dir <dir>', 'where oc is, for steps that say cli')
    .addOption(new Option('--container <engine>', 'run each script in a container').choices(['podman']))
    .option('--image <[name=]image>', 'what a script runs in, by its from, or for all; again for another', collectImage)
}

const builtIn = 'disconnected'

/** @throws KnownError USAGE, WORKFLOW_UNKNOWN, and what reading the source throws */
export async function defineRun(
  workflow: string,
  options: SourceOptions,
  { cwd }: Pick<CliContext, 'cwd'>,
): Promise<RunDefinition> {
  const { registry } = options
  if (registry === undefined) {
    if (workflow === builtIn) return defineSiteRun(resolve(cwd, options.file ?? 'sallyport.yaml'))
    throw new KnownError('WORKFLOW_UNKNOWN', `There is no built-in workflow ${workflow}`, {
      details: { workflow },
      hint: `The built-in one is called ${builtIn}; for one of a step registry say where that is: --registry DIR.`,
    })
  }
  if (options.file !== undefined) {
    throw new KnownError('USAGE', '--file is for the built-in workflow, not for one of a registry')
  }
  if (options.container === undefined && options.image !== undefined) {
    throw new KnownError('USAGE', '--image goes with --container')
  }
  return defineRegistryRun(resolve(cwd, registry), workflow, registryOptions(options, cwd))
}

function registryOptions(options: SourceOptions, cwd: string): RegistryOptions {
  const { env, clusterProfile, clusterType, leasedResource: leases, dependency: dependencies } = options
  const { releaseImage: releaseImages, credential, allowMissingCredentials, cliDir, container } = options
  const { [everyStep]: image, ...images } = options.image ?? {}
  const credentials = Object.entries(credential ?? {}).map(([name, directory]) => [name, resolve(cwd, directory)])
  return {
    ...(env && { env }),
    ...(clusterProfile !== undefined && { clusterProfileDir: resolve(cwd, clusterProfile) }),
    ...(clusterType !== undefined && { clusterType }),
    ...(leases && { leases }),
    ...(dependencies && { dependencies }),
    ...(releaseImages && { releaseImages }),
    ...(credential && { credentials: Object.fromEntries(credentials) }),
    ...(allowMissingCredentials && { allowMissingCredentials }),
    ...(cliDir !== undefined && { cliDir: resolve(cwd, cliDir) }),
    ...(container !== undefined && {
      container: { program: container, images, ...(image !== undefined && { image }) },
    }),
  }
}

/** Stands for the image of all steps that have none of their own. */
const everyStep = ''

/** An image has no `=` before its first `/` or `:`, so that a name cannot be mistaken for a part of it. */
function collectImage(text: string, before: Pairs = {}): Pairs {
  const at = /^[^/]+=/.test(text) ? text.indexOf('=') : -1
  return { ...before, [at < 0 ? everyStep : text.slice(0, at)]: text.slice(at + 1) }
}

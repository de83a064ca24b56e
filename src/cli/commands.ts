import type { Command } from 'commander'
import type { CommandHost } from './command-host.ts'

/** What every file of `commands/` exports. */
interface CommandModule {
  define(command: Command, host: CommandHost): void
}

interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<CommandModule>
}

/** Every command, in the order of `--help`. The only place where modules are loaded on demand. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'write sallyport.yaml, which says what a site is: asks, or takes flags',
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'quickstart',
    summary: 'the whole job on this machine, on loopback, with nothing installed; prints what it proved',
    load: () => import('./commands/quickstart.ts'),
  },
  {
    name: 'mirror',
    summary: 'copy a release and images into a registry, and write the cluster resources',
    load: () => import('./commands/mirror.ts'),
  },
  {
    name: 'delete',
    summary: 'take images off a mirror: first a list to read, then what it names',
    load: () => import('./commands/delete.ts'),
  },
  {
    name: 'plan',
    summary: 'what a workflow would do, and why; look into a plan of a mirror, what differs between two',
    load: () => import('./commands/plan.ts'),
  },
  {
    name: 'archive',
    summary: 'what is carried across: look into it, prove it, answer it with a receipt',
    load: () => import('./commands/archive.ts'),
  },
  {
    name: 'files',
    summary: 'the files that travel with the images: list them, and take them out',
    load: () => import('./commands/files.ts'),
  },
  {
    name: 'verify',
    summary: 'is everything there; would anything leave the network',
    load: () => import('./commands/verify.ts'),
  },
  {
    name: 'release',
    summary: 'what a release is made of, at a registry or in an archive; what an upgrade changes',
    load: () => import('./commands/release.ts'),
  },
  {
    name: 'config',
    summary: 'configurations: check, convert to v2alpha1, JSON Schema',
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'install-config',
    summary: 'render install-config.yaml out of sallyport.yaml, or check one',
    load: () => import('./commands/install-config.ts'),
  },
  {
    name: 'ignition',
    summary: 'Ignition configs: look into them, check, change, compare and materialise them',
    load: () => import('./commands/ignition.ts'),
  },
  {
    name: 'rehearse',
    summary: 'would the bootstrap come up: what it will ask for is asked now, and its scripts are run',
    load: () => import('./commands/rehearse.ts'),
  },
  {
    name: 'resolve',
    summary: 'which endpoints a node would try for an image, in order, and why',
    load: () => import('./commands/resolve.ts'),
  },
  {
    name: 'registry',
    summary: 'the embedded registry: serve, gc, stat',
    load: () => import('./commands/registry.ts'),
  },
  {
    name: 'list',
    summary: 'what could be mirrored: releases of OpenShift, operators',
    load: () => import('./commands/list.ts'),
  },
  {
    name: 'catalog',
    summary: 'operator catalogs: why a bundle is mirrored or not, and whether a catalog is sound',
    load: () => import('./commands/catalog.ts'),
  },
  {
    name: 'steps',
    summary: 'a step registry of openshift/release: list, show, resolve, validate',
    load: () => import('./commands/steps.ts'),
  },
  {
    name: 'run',
    summary: 'run a workflow; show, export, import a run, take down what it made',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'resume',
    summary: 'go on with a run where it stopped',
    load: () => import('./commands/resume.ts'),
  },
  {
    name: 'runs',
    summary: 'what ran here, and how it is',
    load: () => import('./commands/runs.ts'),
  },
  {
    name: 'logs',
    summary: 'what the steps of a run have printed; -f follows it',
    load: () => import('./commands/logs.ts'),
  },
  {
    name: 'version',
    summary: 'print the version',
    load: () => import('./commands/version.ts'),
  },
]

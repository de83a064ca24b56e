import type { Command } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { mirroredImages, nodeConfOf, parseImageList, releaseReferences, verifyMirrored } from '../../flows/verify.ts'
import { findUnsignedReleases } from '../../flows/verify-signatures.ts'
import { formatMirrorTarget, parseMirrorTarget } from '../../mirror/destination.ts'
import { verifyEgress } from '../../mirror/verify-egress.ts'
import { workspaceAt } from '../../mirror/workspace.ts'
import { parseReference } from '../../oci/reference.ts'
import { withRegistriesConf } from '../../remote/registries-conf-source.ts'
import type { CommandHost } from '../command-host.ts'
import { type AccessOptions, addAccessOptions, openRegistries } from '../registry-access.ts'
import { renderEgressReport, renderMirrorReport } from '../render/findings.ts'

interface MirrorOptions extends AccessOptions {
  workspace: string
  deep?: boolean
}

interface EgressOptions extends AccessOptions {
  workspace: string
  resources?: string
  images?: string[]
  release?: string[]
  inside?: string[]
  offline?: boolean
}

const mirrorExamples = `
Exit status: 0 everything is there; 1 something is missing or wrong.

Examples:
  sallyport verify mirror --workspace file:///srv/mirror docker://registry.lab:8443/ocp
  sallyport verify mirror --workspace file:///srv/mirror --deep        read and hash every byte as well`

const egressExamples = `
Exit status: 0 no image would be pulled from outside; 1 at least one would.

Examples:
  sallyport verify egress --workspace file:///srv/mirror
  sallyport verify egress --workspace file:///srv/mirror --images images.txt
  sallyport verify egress --resources ./manifests --inside registry.lab:8443 --offline --images images.txt`

export function define(command: Command, host: CommandHost): void {
  command.description('Proves that a mirror is complete, and that a cluster behind it needs nothing from outside.')
  defineMirror(command.command('mirror'), host)
  defineEgress(command.command('egress'), host)
}

function defineMirror(command: Command, host: CommandHost): void {
  command
    .summary('is every manifest, blob and signature at the target')
    .description('Asks the target for every manifest, blob and signature that was mirrored, by digest and size.')
    .argument('[destination]', 'docker://HOST[:PORT]/PATH; may be left out where the workspace knows only one')
    .option('--workspace <dir>', 'the workspace of the mirror: DIR or file://DIR', '.')
    .option('--deep', 'read and hash every blob')
  addAccessOptions(command)
    .addHelpText('after', mirrorExamples)
    .action(async (destination: string | undefined, options: MirrorOptions) => {
      const context = host.context()
      const named = destination === undefined ? undefined : formatMirrorTarget(parseMirrorTarget(destination))
      const workspace = workspaceAt(options.workspace, context.cwd)
      const { target: registry, close } = await openRegistries(options, context)
      try {
        const { signal } = context
        const deep = options.deep === true
        const { target, report: found, isNoted } = await verifyMirrored(workspace, named, { registry, signal, deep })
        const report = { ...found, findings: [...found.findings, ...(await findUnsignedReleases(workspace, target))] }
        const { broken, ...facts } = report
        const json = { target, ...facts, broken: [...broken.keys()].sort(), isNoted }
        context.stdout(context.json ? `${JSON.stringify(json)}\n` : renderMirrorReport(target, report))
        if (!isNoted) context.log.warn(notNoted(workspace.root))
        host.done(report.findings.some(({ severity }) => severity === 'error') ? 1 : 0)
      } finally {
        close()
      }
    })
}

function defineEgress(command: Command, host: CommandHost): void {
  command
    .summary('would a node pull anything from outside')
    .description('Resolves every image as a node would through the cluster resources, and asks the mirrors for it.')
    .option('--workspace <dir>', 'the workspace of the mirror: DIR or file://DIR', '.')
    .option('--resources <dir>', 'cluster resources to go by; default: those of the workspace')
    .option('--images <file...>', 'further images, one a line (also a mapping.txt)')
    .option('--release <image...>', 'further releases: the payload is read through the mirror and checked too')
    .option('--inside <registry...>', 'registries a node may reach; default: those that the workspace mirrored to')
    .option('--offline', 'compute only, ask no registry')
  addAccessOptions(command)
    .addHelpText('after', egressExamples)
    .action(async (options: EgressOptions) => {
      const context = host.context()
      const workspace = workspaceAt(options.workspace, context.cwd)
      const conf = await nodeConfOf(options.resources ?? workspace.clusterResources)
      const { target: registry, close } = await openRegistries(options, context)
      try {
        const { signal } = context
        const source = withRegistriesConf(registry, conf)
        const lists = await Promise.all(
          (options.images ?? []).map(async (file) => parseImageList(await readTextFile(file))),
        )
        const releases = await Promise.all(
          (options.release ?? []).map((text) => releaseReferences(parseReference(text), { workspace, source, signal })),
        )
        const mirrored = options.resources
          ? { hosts: [], references: [] }
          : await mirroredEverywhere(options.workspace, context.cwd)
        const inside = new Set([...(options.inside ?? []), ...mirrored.hosts])
        const references = [...mirrored.references, ...lists.flat(), ...releases.flat()]
        const report = await verifyEgress(references, { conf, inside, signal, ...(!options.offline && { registry }) })
        context.stdout(context.json ? `${JSON.stringify(report)}\n` : renderEgressReport(report))
        host.done(report.findings.length > 0 ? 1 : 0)
      } finally {
        close()
      }
    })
}

function notNoted(directory: string): string {
  return `${directory} cannot be written now: verify again when no mirror is at work there, so that the next one mends this`
}

async function mirroredEverywhere(location: string, cwd: string) {
  const { target, images, neverArrived } = await mirroredImages(workspaceAt(location, cwd), undefined)
  const references = [...images, ...neverArrived].map(({ source }) => parseReference(source))
  return { hosts: [target.split('/')[0] ?? target], references }
}

import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { loadRegistriesConf } from '../../config/registries-conf.ts'
import { readTextFile } from '../../config/yaml-document.ts'
import { KnownError } from '../../errors/known-error.ts'
import { formatReference, parseReference, type Reference } from '../../oci/reference.ts'
import { readBootstrap } from '../../openshift/bootstrap/bootstrap-config.ts'
import { readInspected } from '../../openshift/bootstrap/inspected-config.ts'
import { nodeRegistries } from '../../openshift/bootstrap/node-registries.ts'
import type { RegistriesConf } from '../../registries/registries-conf.ts'
import { resolveEndpoints } from '../../registries/resolve.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { type Outcome, renderOutcomes, resolutionDocument } from '../render/resolve.ts'
import { type BootstrapSides, renderSides, sidesDocument } from '../render/resolve-bootstrap.ts'

interface Options {
  registriesConf?: string
  registriesConfDir?: string
  bootstrap?: string
}

const details = `
Nothing is asked over the network. An endpoint after the first is tried when the ones before it fail, whatever the
failure. Exit status: 0; 1 where an image has no endpoint left or a rewriting makes no reference, which ends the pull
on a node too; 78 where registries.conf does not load.

Without --registries-conf the file of this machine is read: $CONTAINERS_REGISTRIES_CONF, ~/.config/containers or
/etc/containers. Its drop-ins (registries.conf.d) are read in every case, as podman does; to resolve for another
machine, name its folder, or an empty one, with --registries-conf-dir.

With --bootstrap the answer is that of a cluster to be: by the registries.conf in a bootstrap.ign, which is what its
bootstrap host goes by, and by the one that its nodes will have out of the manifests in the same file.

Examples:
  sallyport resolve quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64
  sallyport resolve registry.redhat.io/ubi9@sha256:… --registries-conf node.conf --registries-conf-dir node.conf.d
  sallyport resolve --bootstrap bootstrap.ign quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:…
  sallyport resolve --json $(cat images.txt) | jq '.images[] | select(.usable | not) | .reference'`

export function define(command: Command, host: CommandHost): void {
  command
    .description('Which endpoints a node would try for an image, in order, and why.')
    .argument('<reference...>', 'images: HOST[:PORT]/PATH:TAG or HOST[:PORT]/PATH@sha256:HEX')
    .option('--registries-conf <file>', 'the registries.conf to go by')
    .option('--registries-conf-dir <dir>', 'the only folder to read drop-ins from')
    .addOption(
      new Option(
        '--bootstrap <file>',
        'go by this bootstrap.ign: its own registries.conf, and that of its nodes',
      ).conflicts(['registriesConf', 'registriesConfDir']),
    )
    .addHelpText('after', details)
    .action(async (texts: string[], options: Options) => {
      const context = host.context()
      const run = options.bootstrap === undefined ? byThisMachine : byBootstrap
      host.done(await run(texts, options, context))
    })
}

async function byThisMachine(texts: readonly string[], options: Options, context: CliContext): Promise<number> {
  const { registriesConf: path, registriesConfDir: dropInDir } = options
  const references = texts.map(parseReference)
  const { conf, files } = await loadRegistriesConf({ path, dropInDir, env: context.env })
  const outcomes = references.map((reference, index) => resolveOne(conf, reference, texts[index] ?? ''))
  context.stdout(
    context.json ? `${JSON.stringify(resolutionDocument(outcomes, files))}\n` : renderOutcomes(outcomes, files),
  )
  return outcomes.every(({ usable }) => usable) ? 0 : 1
}

/** @throws KnownError IGNITION_INVALID, REGISTRIES_CONF_INVALID */
async function byBootstrap(texts: readonly string[], options: Options, context: CliContext): Promise<number> {
  const { bootstrap: fileName = '' } = options
  const references = texts.map(parseReference)
  const { config } = readInspected(await readTextFile(resolve(context.cwd, fileName)), fileName)
  const bootstrap = readBootstrap(config, { fileName })
  const { conf, files, errors } = bootstrap.registries
  const [broken] = errors
  if (broken !== undefined) throw broken
  const nodes = nodeRegistries(bootstrap)
  const all = (of: RegistriesConf) =>
    references.map((reference, index) => resolveOne(of, reference, texts[index] ?? ''))
  const sides: BootstrapSides = {
    fileName,
    bootstrap: { files, outcomes: all(conf) },
    nodes: {
      files: [...new Set(nodes.manifests.map(({ path }) => path))],
      outcomes: nodes.conf === undefined ? undefined : all(nodes.conf),
      findings: nodes.findings,
    },
  }
  context.stdout(context.json ? `${JSON.stringify(sidesDocument(sides))}\n` : renderSides(sides))
  const outcomes = [...sides.bootstrap.outcomes, ...(sides.nodes.outcomes ?? [])]
  return sides.nodes.outcomes !== undefined && outcomes.every(({ usable }) => usable) ? 0 : 1
}

/** A rewriting that fails concerns one image: the others are still told. */
function resolveOne(conf: RegistriesConf, reference: Reference, asked: string): Outcome {
  const isShort = !asked.startsWith(`${reference.registry}/`) && !asked.startsWith('index.docker.io/')
  const note = isShort
    ? `a short name: podman asks its aliases and unqualified-search-registries first; taken as ${formatReference(reference)}`
    : undefined
  try {
    const resolution = resolveEndpoints(conf, reference)
    const usable = resolution.endpoints.some(({ blockedBy }) => blockedBy === undefined)
    return { asked, usable, resolution, note }
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    return { asked, usable: false, error, note }
  }
}

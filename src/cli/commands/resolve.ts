import type { Command } from 'commander'
import { loadRegistriesConf } from '../../config/registries-conf.ts'
import { KnownError } from '../../errors/known-error.ts'
import { formatReference, parseReference, type Reference } from '../../oci/reference.ts'
import type { RegistriesConf } from '../../registries/registries-conf.ts'
import { resolveEndpoints } from '../../registries/resolve.ts'
import type { CommandHost } from '../command-host.ts'
import { type Outcome, renderOutcomes, resolutionDocument } from '../render/resolve.ts'

interface Options {
  registriesConf?: string
  registriesConfDir?: string
}

const details = `
Nothing is asked over the network. An endpoint after the first is tried when the ones before it fail, whatever the
failure. Exit status: 0; 1 where an image has no endpoint left or a rewriting makes no reference, which ends the pull
on a node too; 78 where registries.conf does not load.

Without --registries-conf the file of this machine is read: $CONTAINERS_REGISTRIES_CONF, ~/.config/containers or
/etc/containers. Its drop-ins (registries.conf.d) are read in every case, as podman does; to resolve for another
machine, name its folder, or an empty one, with --registries-conf-dir.

Examples:
  sallyport resolve quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64
  sallyport resolve registry.redhat.io/ubi9@sha256:… --registries-conf node.conf --registries-conf-dir node.conf.d
  sallyport resolve --json $(cat images.txt) | jq '.images[] | select(.usable | not) | .reference'`

export function define(command: Command, host: CommandHost): void {
  command
    .description('Which endpoints a node would try for an image, in order, and why.')
    .argument('<reference...>', 'images: HOST[:PORT]/PATH:TAG or HOST[:PORT]/PATH@sha256:HEX')
    .option('--registries-conf <file>', 'the registries.conf to go by')
    .option('--registries-conf-dir <dir>', 'the only folder to read drop-ins from')
    .addHelpText('after', details)
    .action(async (texts: string[], options: Options) => {
      const context = host.context()
      const references = texts.map(parseReference)
      const { registriesConf: path, registriesConfDir: dropInDir } = options
      const { conf, files } = await loadRegistriesConf({ path, dropInDir, env: context.env })
      const outcomes = references.map((reference, index) => resolveOne(conf, reference, texts[index] ?? ''))
      context.stdout(
        context.json ? `${JSON.stringify(resolutionDocument(outcomes, files))}\n` : renderOutcomes(outcomes, files),
      )
      host.done(outcomes.every(({ usable }) => usable) ? 0 : 1)
    })
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

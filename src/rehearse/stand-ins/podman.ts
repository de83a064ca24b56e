/** `podman` of the bootstrap host: pulls are tried for real, containers only leave what their scripts wait for. */
import { KnownError } from '../../errors/known-error.ts'
import { formatReference } from '../../oci/reference.ts'
import type { Pull, PulledImage } from '../pull/image-puller.ts'
import type { StandInCall } from '../sandbox/sandbox.ts'
import type { Answer } from './answer.ts'
import { type ContainerRun, parseContainerRun, splitOptions } from './podman-arguments.ts'
import { type NamedPaths, namedPaths, renderedOutputs } from './render-outputs.ts'
import type { StandInWorld } from './world.ts'

/** What podman ends with when it failed itself (podman-run(1), "Exit Status"). */
const podmanFailed = 125

export class Podman {
  readonly #world: StandInWorld
  readonly #paths: NamedPaths
  /** Images that this host has by now, by every name. */
  readonly #local = new Map<string, PulledImage>()

  constructor(world: StandInWorld) {
    this.#world = world
    this.#paths = namedPaths(world.bootstrap.files)
  }

  async answer({ args }: StandInCall): Promise<Answer> {
    const { words } = splitOptions(args)
    const [command = '', ...rest] = words
    if (command === 'image' && rest[0] === 'exists') return { status: this.#local.has(rest.at(-1) ?? '') ? 0 : 1 }
    if (command === 'image' && rest[0] === 'pull') return this.#pull(rest.slice(1))
    if (command === 'pull') return this.#pull(rest)
    if (command === 'inspect' || (command === 'image' && rest[0] === 'inspect')) return this.#inspect(rest)
    if (command === 'run' || command === 'create') return this.#run(rest)
    return {}
  }

  async #pull(args: readonly string[]): Promise<Answer> {
    const { options, words } = splitOptions(args)
    const [reference = ''] = words
    const isQuiet = options.some(([name]) => name === '-q' || name === '--quiet')
    const trying = isQuiet ? '' : `Trying to pull ${reference}...\n`
    const pull = await this.#fetch(reference)
    if (pull.kind === 'failed') return { ...failure(pull.message), stderr: `${trying}Error: ${pull.message}\n` }
    return { stdout: `${pull.manifest.config.digest.split(':')[1]}\n`, stderr: trying }
  }

  async #fetch(reference: string): Promise<Pull> {
    const pull = this.#local.get(reference) ?? (await this.#world.pull(reference))
    if (pull.kind === 'pulled') {
      this.#local.set(reference, pull)
      this.#local.set(byDigest(pull), pull)
    }
    return pull
  }

  /** `podman inspect REF --format json`, or with a template (podman-inspect(1)). */
  #inspect(args: readonly string[]): Answer {
    const names = args.filter(
      (word, index) => !word.startsWith('-') && !/^(?:-f|--format|-t|--type)$/.test(args[index - 1] ?? ''),
    )
    const name = names.find((word) => word !== 'inspect') ?? ''
    const image = this.#local.get(name)
    if (image === undefined) return failure(`no such object: "${name}"`)
    const template = args.find((word) => word.includes('{{')) ?? ''
    const { digest, architecture = '', labels } = image
    const own = byDigest(image)
    if (/\.Architecture/.test(template)) return { stdout: `${architecture}\n` }
    if (/\.RepoDigests/.test(template)) return { stdout: `${own}\n` }
    if (/\.Digest/.test(template)) return { stdout: `${digest}\n` }
    const [, label] = /index\s+\.(?:Config\.)?Labels\s+"([^"]+)"/.exec(template) ?? []
    if (label !== undefined) return { stdout: `${labels[label] ?? ''}\n` }
    const document = [{ Digest: digest, RepoDigests: [own], Architecture: architecture, Os: 'linux', Labels: labels }]
    return { stdout: `${JSON.stringify(document, undefined, 4)}\n` }
  }

  async #run(args: readonly string[]): Promise<Answer> {
    const run = parseContainerRun(args)
    if (run === undefined) return failure('requires at least 1 arg(s), only received 0')
    const pull = await this.#fetch(run.image)
    if (pull.kind === 'failed') return failure(pull.message)
    return this.#isRelease(pull) ? this.#runRelease(run) : this.#contained(run)
  }

  #isRelease({ labels, reference }: PulledImage): boolean {
    return labels['io.openshift.release'] !== undefined || reference === this.#world.bootstrap.releaseImage?.text
  }

  /** The cluster-version operator and what is in its image. */
  async #runRelease(run: ContainerRun): Promise<Answer> {
    const { command } = run
    const release = await this.#world.release()
    if (release instanceof KnownError) return { stderr: `error: ${release.message}\n`, status: 1 }
    if (command[0] === 'image' || (command[0]?.endsWith('version-operator') === true && command[1] === 'image')) {
      const name = command.at(-1) ?? ''
      const component = release.payload.components.find((one) => one.name === name)
      if (component !== undefined) return { stdout: `${formatReference(component.reference)}\n` }
      return { stderr: `error: the release has no image for ${JSON.stringify(name)}\n`, status: 1 }
    }
    if (command[0] === 'cat' && command[1]?.endsWith('/image-references') === true)
      return { stdout: release.imageReferences }
    return this.#contained(run)
  }

  #contained(run: ContainerRun): Answer {
    const { command } = run
    const said =
      command.includes('endpoint') && command.includes('health') ? 'is healthy: the rehearsal assumes so\n' : ''
    return { ...renderedOutputs(run, this.#paths), stdout: said }
  }
}

function byDigest({ reference, digest }: PulledImage): string {
  return `${reference.split('@')[0]?.replace(/:[^/:]+$/, '')}@${digest}`
}

function failure(message: string): Answer {
  return { stderr: `Error: ${message}\n`, status: podmanFailed }
}

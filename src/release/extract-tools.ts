/**
 * Tools out of the images of a payload, onto this machine.
 *
 * All tools of one image are taken in one pass over its layers. Each goes to a file beside its place, with the release put
 * into it on the way, and gets its name only when the layers that were read are proven.
 */
import { join } from 'node:path'
import { takeLayerFiles } from '../archive/tar/layer-files-take.ts'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import type { ReleaseComponent, ReleasePayload } from '../openshift/release-payload.ts'
import { placesOf } from './component-images.ts'
import { type Placed, Placement } from './extract-place.ts'
import { BinaryPatch, type PatchedBytes, type ReleaseMark, type ReleaseMarks } from './patch-binary.ts'
import { remakeSignature, type SignatureOutcome } from './patch-macho.ts'
import { payloadManifests } from './payload-image.ts'
import type { Tool, ToolPlace } from './tools.ts'

export interface WantedTool extends Tool {
  /** Below the directory: `oc`, `mac-arm64/oc`. */
  readonly fileName: string
}

export interface ExtractToolsOptions {
  readonly source: ContentSource
  /** The release image, as it was read: components of a mirror lie beside it. */
  readonly release: Reference
  readonly payload: ReleasePayload
  /** Of the release image, as Go names it: which child of a component that is an index. */
  readonly architecture: string
  readonly marks: Required<ReleaseMarks>
  readonly directory: string
  readonly isForced: boolean
  /** Called with the number of bytes of layers that newly arrived. */
  readonly onBytes?: ((count: number) => void) | undefined
  readonly signal?: AbortSignal
}

export interface ExtractedTool {
  readonly tool: WantedTool
  /** The file that is there now. */
  readonly file: string
  readonly placed: Placed
  /** In bytes. */
  readonly size: number
  /** In hex digits. */
  readonly sha256: string
  /** Where it was found. */
  readonly from: ToolPlace & { readonly pullspec: string; readonly layer: Digest }
  readonly marks: ReleaseMarks
  /** What should have been put into it, and has no place there. */
  readonly missingMarks: readonly ReleaseMark[]
  readonly signature: SignatureOutcome
}

/** A place where a tool was looked for in vain. */
export interface LackingPlace extends ToolPlace {
  readonly command: string
  /** Absent where the payload has no such image. */
  readonly pullspec?: string
}

export interface ToolsExtraction {
  readonly extracted: readonly ExtractedTool[]
  /** Tools that none of their places has. */
  readonly absent: readonly WantedTool[]
  readonly lacking: readonly LackingPlace[]
}

/**
 * @throws KnownError FILE_EXISTS, DISK_FULL, LAYER_UNSAFE, PAYLOAD_INVALID, BLOB_DIGEST_MISMATCH, BLOB_SIZE_MISMATCH,
 * MANIFEST_UNKNOWN and the REGISTRY_ codes
 */
export async function extractTools(
  wanted: readonly WantedTool[],
  options: ExtractToolsOptions,
): Promise<ToolsExtraction> {
  const extracted: ExtractedTool[] = []
  const absent: WantedTool[] = []
  const lacking: LackingPlace[] = []
  let open = wanted.map((tool) => ({ tool, places: tool.places }))
  while (open.length > 0) {
    const byImage = Map.groupBy(open, ({ places }) => places[0]?.image ?? '')
    const next: typeof open = []
    for (const [image, searches] of byImage) {
      const { found, pullspec } = await fromImage(
        image,
        searches.map(({ tool, places }) => ({ tool, path: places[0]?.path ?? '' })),
        options,
      )
      extracted.push(...found)
      for (const { tool, places } of searches) {
        if (found.some((one) => one.tool === tool)) continue
        const [place, ...others] = places
        if (place) lacking.push({ ...place, command: tool.command, ...(pullspec !== undefined && { pullspec }) })
        if (others.length > 0) next.push({ tool, places: others })
        else absent.push(tool)
      }
    }
    open = next
  }
  return { extracted: inOrder(extracted, wanted), absent, lacking }
}

interface Search {
  readonly tool: WantedTool
  readonly path: string
}

interface FromImage {
  readonly found: readonly ExtractedTool[]
  readonly pullspec?: string
}

async function fromImage(image: string, searches: readonly Search[], options: ExtractToolsOptions): Promise<FromImage> {
  const { payload } = options
  const component = payload.components.find(({ name }) => name === image)
  if (!component) return { found: [] }
  const { reference, manifest } = await openComponent(component, options)
  const pullspec = formatReference(reference)
  const byPath = Map.groupBy(searches, ({ path }) => path)
  const staged = new Map([...byPath].map(([path, [first]]) => [path, new StagedTool(first?.tool, options)]))
  try {
    const taken = await takeLayerFiles([...byPath.keys()], {
      layers: manifest.layers,
      open: (layer) => verified(readLayerOf(reference, layer, options), layer, `${pullspec}: layer ${layer.digest}`),
      origin: pullspec,
      sink: async (path, content) => staged.get(path)?.write(content),
    })
    const found: ExtractedTool[] = []
    for (const [path, { layer }] of taken) {
      const tools = (byPath.get(path) ?? []).map(({ tool }) => tool)
      const from = { image, path, pullspec, layer: layer.digest }
      found.push(...((await staged.get(path)?.publish(tools, from)) ?? []))
    }
    return { found, pullspec }
  } finally {
    for (const one of staged.values()) await one.discard()
  }
}

async function* readLayerOf(
  reference: Reference,
  layer: Descriptor,
  { source, signal, onBytes }: ExtractToolsOptions,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source.fetchBlob(reference, layer, signal ? { signal } : {})) {
    onBytes?.(chunk.byteLength)
    yield chunk
  }
}

/** The image of a component, from the first of the places where it may be. */
async function openComponent({ name, reference }: ReleaseComponent, options: ExtractToolsOptions) {
  const { source, architecture, signal, release } = options
  const failures: KnownError[] = []
  for (const place of placesOf(release, reference)) {
    try {
      const { manifests } = await payloadManifests(place, { source, architecture, signal })
      const [first] = manifests
      if (first) return { reference: place, manifest: first.manifest }
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof KnownError)) throw error
      failures.push(error)
    }
  }
  const [failure] = failures
  throw (
    failure ?? new KnownError('MANIFEST_UNKNOWN', `${name}: ${formatReference(reference)} is an index without images`)
  )
}

/** One file of an image on its way to the one place, or the several, where it is wanted. */
class StagedTool {
  readonly #options: ExtractToolsOptions
  readonly #values: ReleaseMarks
  readonly #placement: Placement
  #patch: BinaryPatch

  constructor(tool: WantedTool | undefined, options: ExtractToolsOptions) {
    this.#options = options
    this.#values = Object.fromEntries((tool?.marks ?? []).map((mark) => [mark, options.marks[mark]]))
    this.#patch = new BinaryPatch(this.#values)
    this.#placement = this.#placementOf(tool?.fileName ?? 'tool')
  }

  async write(content: AsyncIterable<Uint8Array>): Promise<void> {
    this.#patch = new BinaryPatch(this.#values)
    await this.#placement.write(this.#patch.apply(content))
  }

  /** Gives the file its names, the first of which is that of the tool it was made for. */
  async publish(tools: readonly WantedTool[], from: ExtractedTool['from']): Promise<ExtractedTool[]> {
    const { staged } = this.#placement
    const signature = await this.#sign(staged, this.#patch.made)
    if (signature === 'remade') this.#placement.forget()
    const { size, sha256 } = await this.#placement.describe()
    const missingMarks = this.#patch.missing
    const marks = Object.fromEntries(
      Object.entries(this.#values).filter(([mark]) => !missingMarks.includes(mark as ReleaseMark)),
    )
    const extracted: ExtractedTool[] = []
    let first: string | undefined
    for (const tool of tools) {
      const file = join(this.#options.directory, tool.fileName)
      const placed = first === undefined ? await this.#placement.publish() : await this.#publishAs(first, tool)
      first ??= file
      extracted.push({ tool, file, placed, size, sha256, from, marks, missingMarks, signature })
    }
    return extracted
  }

  discard(): Promise<void> {
    return this.#placement.discard()
  }

  async #publishAs(first: string, tool: WantedTool): Promise<Placed> {
    const placement = this.#placementOf(tool.fileName)
    try {
      await placement.writeAs(first)
      return await placement.publish()
    } finally {
      await placement.discard()
    }
  }

  async #sign(file: string, made: readonly PatchedBytes[]): Promise<SignatureOutcome> {
    return made.length === 0 ? 'unsigned' : remakeSignature(file, made)
  }

  #placementOf(fileName: string): Placement {
    const { directory, isForced } = this.#options
    return new Placement(join(directory, fileName), { mode: 0o755, isForced })
  }
}

function inOrder(extracted: readonly ExtractedTool[], wanted: readonly WantedTool[]): ExtractedTool[] {
  return extracted.toSorted((one, other) => wanted.indexOf(one.tool) - wanted.indexOf(other.tool))
}

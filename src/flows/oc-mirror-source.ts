/** What oc-mirror v2 left in a directory, made ready to be mirrored from. */
import { basename } from 'node:path'
import { type OcMirrorArchive, openOcMirrorArchive } from '../archive/oc-mirror/oc-mirror-archive.ts'
import { type ImageSetConfiguration, parseImageSetConfiguration } from '../config/image-set-configuration.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { type MirrorTarget, targetRepository } from '../mirror/destination.ts'
import { storedCatalogs } from '../mirror/oc-mirror-catalogs.ts'
import { storedNames } from '../mirror/oc-mirror-names.ts'
import type { ContentSource } from '../oci/content.ts'
import type { GraphSource } from '../release/graph-source.ts'
import { signaturesFromOcMirror } from '../trust/signature-documents.ts'
import type { SignatureSource } from '../trust/signature-source.ts'

export interface OcMirrorRequest {
  /** Where the archives are, or the cache. */
  readonly directory: string
  /** Default: the newest configuration in the archives. */
  readonly config?: ImageSetConfiguration | undefined
  readonly target: MirrorTarget
  /** The target, which holds what was in earlier archives and is left out of these. */
  readonly registry: ContentSource
  readonly signal?: AbortSignal
}

export interface OcMirrorSource {
  readonly archive: OcMirrorArchive
  readonly source: ContentSource
  readonly config: ImageSetConfiguration
  /** What the archive has of the working directory that it was made in. */
  readonly graphs: GraphSource
  readonly signatures: SignatureSource
  /** What is damaged or was passed over. */
  readonly findings: readonly Finding[]
}

/**
 * Undefined where the directory has nothing of oc-mirror.
 *
 * @throws KnownError USAGE without a configuration, CONFIG_INVALID, and what `openOcMirrorArchive` throws
 */
export async function openOcMirrorSource(request: OcMirrorRequest): Promise<OcMirrorSource | undefined> {
  const { directory, target, registry, signal } = request
  const archive = await openOcMirrorArchive(directory, { ...(signal && { signal }) })
  if (!archive) return undefined
  const config = request.config ?? (await newestConfiguration(archive))
  const source = archive.viewedWith({
    names: storedNames(config.mirror, storedCatalogs(config.mirror.operators, await archive.images())),
    beyond: { source: registry, locate: (repository) => targetRepository(target, repository) },
  })
  const findings = archive.flaws.map(({ file, offset, why }) =>
    finding({
      id: 'archive.flaw',
      severity: 'warning',
      summary: `${file}: at byte ${offset}: ${why}`,
      remedy:
        'What is missing because of it fails when it is needed. Copy this file again from where oc-mirror wrote it.',
      where: { file },
    }),
  )
  return { archive, source, config, findings, graphs: graphsOf(archive), signatures: signaturesOf(archive) }
}

/** The answers that oc-mirror kept (openshift/oc-mirror `internal/pkg/release/cincinnati.go`). */
function graphsOf(archive: OcMirrorArchive): GraphSource {
  return {
    readAnswer: async ({ channel, architecture }) => {
      const name = `working-dir/hold-release/cincinnati-graph-data/${architecture}-${channel}.json`
      const document = await archive.readDocument(name)
      if (document) return document.bytes
      throw new KnownError(
        'GRAPH_CHANNEL_UNKNOWN',
        `${archive.directory} has no update graph of ${channel} (${architecture})`,
        {
          details: { channel, architecture, document: name },
          hint: 'Name the release itself in mirror.platform.release of the configuration for this side.',
        },
      )
    },
  }
}

function signaturesOf(archive: OcMirrorArchive): SignatureSource {
  return signaturesFromOcMirror(archive.documentNames, async (name) => {
    const document = await archive.readDocument(name)
    return document?.bytes ?? new Uint8Array()
  })
}

async function newestConfiguration(archive: OcMirrorArchive): Promise<ImageSetConfiguration> {
  const newest = (await archive.configurations()).at(-1)
  if (newest)
    return parseImageSetConfiguration({
      file: `${basename(newest.file)}: ${newest.name}`,
      text: newest.bytes.toString('utf8'),
    })
  throw new KnownError('USAGE', `${archive.directory} holds what oc-mirror wrote, and no configuration with it`, {
    hint: 'oc-mirror writes it at the end of the last mirror_….tar, and not at all when it fails. Copy that file too, or name the ImageSetConfiguration that it was made with: -c FILE.',
  })
}

/** What a run asks beside registries. Each may be absent: what cannot go on without it then says so. */
import type { CheckImage } from '../mirror/resolve-images.ts'
import type { GraphSource } from '../release/graph-source.ts'
import type { WebClient } from '../remote/web-client.ts'
import type { Documents } from './archive-documents.ts'
import type { ChartTools } from './charts.ts'
import type { ReleaseTrust } from './release-trust.ts'

export interface MirrorServices {
  /** Which releases are in which channel. */
  readonly graphs?: GraphSource | undefined
  /** Only releases of channels whose version matches (`VERSION_FILTER`). */
  readonly versionFilter?: RegExp | undefined
  /** Verifies the signatures of releases; absent: they are not looked at. */
  readonly trust?: ReleaseTrust | undefined
  /** Verifies every image, by a policy. */
  readonly checkImage?: CheckImage | undefined
  /** What relative paths of the configuration are relative to. Default: the directory that the process works in. */
  readonly cwd?: string | undefined
  /** For charts; absent where the source is an archive, whose `documents` say what was found in them. */
  readonly charts?: ChartTools | undefined
  /** What the archive carries beside images. */
  readonly documents?: Documents | undefined
  /** For images that are made here; absent where the source is an archive, which has them. */
  readonly making?: Making | undefined
}

export interface Making {
  readonly web: WebClient
  /** `UPDATE_URL_OVERRIDE`: graph data is asked for at the same place. */
  readonly updateUrl?: string | undefined
  /** Takes what people should know, a line at a time. */
  readonly tell: (line: string) => void
}

/** Everything that an image must fulfil before it is moved. */
export function imageChecks({ trust, checkImage }: MirrorServices): CheckImage {
  return async (group, context) => {
    trust?.checkForNodes(group)
    await checkImage?.(group, context)
  }
}

/** How many bytes a config has in each form in which it can be given to a machine, and where it fits. */
import { gzipped } from '../patch/file-entry.ts'
import { readIgnitionConfig } from '../read-config.ts'
import { compressFiles, minifiedText } from './compress-files.ts'
import { base64Bytes, type PlatformLimit, platformLimits, storedBytes } from './platform-limits.ts'

/** All in bytes. */
export interface ConfigSizes {
  readonly raw: number
  /** Without white space. */
  readonly minified: number
  /** Every file compressed that becomes shorter by it, without white space. */
  readonly perFileGzip: number
  readonly compressedFiles: number
  /** Compressed as a whole, without white space. */
  readonly gzip: number
  readonly gzipBase64: number
}

/**
 * The first that fits: as it is; without white space; with its files compressed; compressed as a whole, where the platform
 * decompresses it; otherwise a pointer to it.
 */
export type Fit = 'inline' | 'minified' | 'per-file-gzip' | 'gzip+base64' | 'pointer'

export interface PlatformVerdict {
  readonly platform: PlatformLimit
  readonly fit: Fit
  /** Of the form that fits, or of the smallest one where none does: as it counts against the limit. */
  readonly storedBytes: number
}

/**
 * The files of a config of specification 2.x are not compressed: that would change it.
 *
 * @throws KnownError IGNITION_INVALID
 */
export function measureConfig(text: string, fileName: string): ConfigSizes {
  const small = minifiedText(text, fileName)
  const { text: compressed, compressedFiles } = isSpec2(text, fileName)
    ? { text: small, compressedFiles: 0 }
    : compressFiles(text, fileName)
  const gzip = gzipped(Buffer.from(small)).byteLength
  return {
    raw: Buffer.byteLength(text),
    minified: Buffer.byteLength(small),
    perFileGzip: Buffer.byteLength(compressed),
    compressedFiles,
    gzip,
    gzipBase64: base64Bytes(gzip),
  }
}

function isSpec2(text: string, fileName: string): boolean {
  return readIgnitionConfig(text, fileName).version.startsWith('2.')
}

export function judgePlatforms(sizes: ConfigSizes): readonly PlatformVerdict[] {
  return platformLimits.map((platform) => {
    const forms = formsFor(sizes, platform)
    const fitting = forms.find(({ storedBytes }) => storedBytes <= platform.limitBytes)
    const smallest = forms.reduce((one, other) => (other.storedBytes < one.storedBytes ? other : one))
    return { platform, ...(fitting ?? { ...smallest, fit: 'pointer' }) }
  })
}

function formsFor(
  sizes: ConfigSizes,
  platform: PlatformLimit,
): readonly Pick<PlatformVerdict, 'fit' | 'storedBytes'>[] {
  const counted = (fit: Fit, sizeBytes: number) => ({ fit, storedBytes: storedBytes(sizeBytes, platform) })
  return [
    counted('inline', sizes.raw),
    counted('minified', sizes.minified),
    counted('per-file-gzip', sizes.perFileGzip),
    ...(platform.hasWholeGzip ? [{ fit: 'gzip+base64' as const, storedBytes: sizes.gzipBase64 }] : []),
  ]
}

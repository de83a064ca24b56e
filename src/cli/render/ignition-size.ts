/** Sizes of a config against the limits of platforms. */
import type { ConfigSizes, Fit, PlatformVerdict } from '../../ignition/size/measure-size.ts'
import { count } from './quantities.ts'
import { tableLines } from './table.ts'

export interface SizeView {
  readonly config: string
  readonly sizes: ConfigSizes
  readonly verdicts: readonly PlatformVerdict[]
  /** Where the compressed form was written. */
  readonly compressed: string | undefined
}

const fits: Readonly<Record<Fit, string>> = {
  inline: 'as it is',
  minified: 'without white space (--compress does that too)',
  'per-file-gzip': 'with its files compressed: --compress FILE',
  'gzip+base64': 'compressed as a whole: gzip -9 FILE | base64 -w0, encoding gzip+base64',
  pointer: 'by a pointer: sallyport ignition pointer',
}

export function renderSizes({ config, sizes, verdicts, compressed }: SizeView): string {
  const forms: readonly (readonly [string, number])[] = [
    ['as it is', sizes.raw],
    ['without white space', sizes.minified],
    [`with ${count(sizes.compressedFiles, 'file')} compressed`, sizes.perFileGzip],
    ['compressed as a whole', sizes.gzip],
    ['the same in base64', sizes.gzipBase64],
  ]
  const sizeLines = tableLines(
    [{ title: config }, { title: 'bytes', isRight: true }],
    forms.map(([form, bytes]) => [form, bytes.toLocaleString('en-US')]),
    '',
  )
  const platformLines = tableLines(
    [
      { title: 'platform' },
      { title: 'takes', isRight: true },
      { title: 'here', isRight: true },
      { title: 'how it fits' },
    ],
    verdicts.map(({ platform, fit, storedBytes }) => [
      platform.name,
      `${platform.isHard ? '' : '~'}${platform.limitBytes.toLocaleString('en-US')}`,
      storedBytes.toLocaleString('en-US'),
      fits[fit],
    ]),
    '',
  )
  const notes = [
    ...(verdicts.some(({ platform }) => !platform.isHard) ? ['~ known by practice, or can be raised'] : []),
    ...(verdicts.some(({ fit }) => fit === 'pointer')
      ? ['behind s3: a config must not be compressed as a whole; with its files compressed it may be']
      : []),
    ...(compressed === undefined ? [] : [`compressed: ${compressed}`]),
  ]
  return `${[...sizeLines, '', ...platformLines, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')}\n`
}

export function sizeDocument({ config, sizes, verdicts, compressed }: SizeView): object {
  const platforms = verdicts.map(({ platform, fit, storedBytes }) => ({ ...platform, fit, storedBytes }))
  return { config, sizes, platforms, ...(compressed !== undefined && { compressed }) }
}

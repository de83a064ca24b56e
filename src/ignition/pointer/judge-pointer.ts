/** What can go wrong with a pointer, before a machine waits for it without end. */
import { type Finding, finding } from '../../errors/finding.ts'
import { judgeTrusted } from '../patch/trust-anchors.ts'
import { type PlatformLimit, storedBytes } from '../size/platform-limits.ts'
import { validateIgnition } from '../validate.ts'
import { type PointerRequest, type PointerTarget, schemeOf } from './pointer-config.ts'

/** What Ignition fetches from (coreos/ignition `config/v3_6/types/url.go:validateURL`); `data` needs no pointer. */
const schemes = ['http', 'https', 'tftp', 's3', 'arn', 'gs']

export interface PointerContext {
  readonly now: Date
  readonly platform?: PlatformLimit | undefined
  /** The pointer as it is written. */
  readonly text: string
}

export function judgePointer({ targets, ca }: PointerRequest, context: PointerContext): readonly Finding[] {
  const { now, platform, text } = context
  const findings = [
    ...targets.flatMap((target) => [...judgeUrl(target), ...judgeTransport(target)]),
    ...(ca === undefined ? [] : [...judgeTrusted(ca, 'the CA', now), ...judgeUse(targets)]),
    ...targets.flatMap((target) => (platform === undefined ? [] : judgePlatform(target, platform))),
    ...(platform === undefined ? [] : judgeSize(Buffer.byteLength(text), platform)),
  ]
  return findings.some(({ severity }) => severity === 'error') ? findings : [...findings, ...judgeText(text)]
}

/** What nothing above has a better word for. */
function judgeText(text: string): readonly Finding[] {
  const errors = validateIgnition(text).entries.filter(({ severity }) => severity === 'error')
  return errors.map(({ path, message }) =>
    told('invalid', 'error', [
      `Ignition would refuse the pointer: ${path}: ${message}`,
      'Write the URL with what is special in it percent-encoded.',
    ]),
  )
}

function judgeUrl({ url, isGzip }: PointerTarget): readonly Finding[] {
  const scheme = schemeOf(url)
  if (scheme === 'data') return []
  if (!schemes.includes(scheme) || (scheme !== 'arn' && !URL.canParse(url))) {
    const remedy = `Write one of ${schemes.map((one) => `${one}:`).join(' ')}`
    return [told('url', 'error', [`${url} is no URL that Ignition fetches from`, remedy])]
  }
  if (isGzip && ['s3', 'arn'].includes(scheme))
    return [
      told('s3-gzip', 'error', [
        `Ignition refuses compression for ${scheme}: resources (“compression is not supported with that scheme”)`,
        'Leave --gzip out. What has to be smaller gets its files compressed one by one: sallyport ignition size --compress OUT.',
      ]),
    ]
  return []
}

function judgeTransport({ url, hash }: PointerTarget): readonly Finding[] {
  const scheme = schemeOf(url)
  const findings: Finding[] = []
  if (['http', 'tftp'].includes(scheme) && hash === 'none')
    findings.push(
      told('unverified', 'warning', [
        `over ${scheme}: without a hash whoever is on the way can give the machine another config`,
        'Leave --hash at sha512, or serve it by https with --ca.',
      ]),
    )
  if (/[?&](?:x-amz-signature|x-goog-signature|sig)=/i.test(url))
    findings.push(
      told('presigned', 'warning', [
        'the URL is signed: whoever has the pointer can fetch the config with its secrets until the signature expires, and afterwards nobody can',
        'Boot the machine before that (the installer signs for one hour), and sign anew where it boots later.',
      ]),
    )
  return findings
}

function judgeUse(targets: readonly PointerTarget[]): readonly Finding[] {
  if (targets.some(({ url }) => schemeOf(url) === 'https')) return []
  return [told('ca-unused', 'warning', ['a CA is named, and nothing is fetched by https', 'Leave --ca out.'])]
}

function judgePlatform({ url }: PointerTarget, { name }: PlatformLimit): readonly Finding[] {
  const scheme = schemeOf(url)
  const home = { s3: 'aws', arn: 'aws', gs: 'gcp' }[scheme]
  if (home === undefined || home === name) return []
  return [
    told('platform', 'warning', [
      `${scheme}: on ${name}: credentials for it are only to be had on ${home}; elsewhere Ignition asks as anonymous`,
      'Serve it by https, or make that one object public for as long as the machine boots.',
    ]),
  ]
}

function judgeSize(sizeBytes: number, platform: PlatformLimit): readonly Finding[] {
  if (storedBytes(sizeBytes, platform) <= platform.limitBytes) return []
  return [
    told('size', 'error', [
      `the pointer itself has ${sizeBytes} bytes, and ${platform.what} takes ${platform.limitBytes}`,
      'Name a shorter bundle with --ca: the one certificate that signed the server’s.',
    ]),
  ]
}

function told(id: string, severity: Finding['severity'], [summary, remedy]: readonly [string, string]): Finding {
  return finding({ id: `ignition.pointer-${id}`, severity, summary, remedy })
}

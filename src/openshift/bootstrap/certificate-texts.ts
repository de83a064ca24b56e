/** Where in a config certificates stand: as PEM, as base64 of it, and within configs that are themselves in base64. */

import { KnownError } from '../../errors/known-error.ts'
import type { IgnitionConfig } from '../../ignition/config.ts'
import { decodeDataUrl, isDataUrl } from '../../ignition/data-url.ts'
import type { BootstrapFile, BootstrapFiles, Evidence } from './bootstrap-file.ts'
import { lineAt } from './bootstrap-file.ts'

export type CertificatePlace = 'tls' | 'kubeconfig' | 'trust-anchor' | 'manifest' | 'ignition' | 'other'

export interface CertificateText {
  /** One certificate. */
  readonly pem: string
  /** Of the line that it begins in; of a field in base64, that of the field. */
  readonly at: Evidence
  readonly place: CertificatePlace
  /** True where it is the first of its file: the one that a key beside it belongs to. */
  readonly isFirst: boolean
}

/** Certificates of files, in their order, and those that the config itself is to trust when it fetches. */
export function certificateTexts(config: IgnitionConfig, files: BootstrapFiles): readonly CertificateText[] {
  const authorities = config.ignition.security?.tls?.certificateAuthorities ?? []
  return [
    ...authorities.flatMap(({ source }, index) => {
      const at = { file: `ignition.security.tls.certificateAuthorities.${index}`, line: 1 }
      return pemsIn(decodedSource(source ?? ''), { at, place: 'ignition' })
    }),
    ...[...files.values()].flatMap(certificatesOfFile),
  ]
}

function decodedSource(source: string): string {
  try {
    return isDataUrl(source) ? Buffer.from(decodeDataUrl(source).bytes).toString('utf8') : ''
  } catch (error) {
    if (error instanceof KnownError) return ''
    throw error
  }
}

/** What base64 makes of `-----BEGIN CERT`, and of `{"ignition`. */
const encodedPem = /LS0tLS1CRUdJTiBDRVJU[A-Za-z0-9+/=]+/g
const encodedIgnition = /eyJpZ25pdGlvbi[A-Za-z0-9+/=]+/g
/** To its end, or where that is missing to the next beginning: what is cut off is then found to be none. */
const pemPattern = /-----BEGIN CERTIFICATE-----[\s\S]*?(?:-----END CERTIFICATE-----|(?=-----BEGIN )|$)/g

function certificatesOfFile({ path, text }: BootstrapFile): readonly CertificateText[] {
  if (!text.includes('-----BEGIN CERT') && !text.includes('LS0tLS1CRUdJTiBDRVJU') && !text.includes('eyJpZ25pdGlvbi'))
    return []
  const place = placeOf(path)
  const plain = pemsIn(text, { at: { file: path, line: 1 }, place })
  const encoded = [...text.matchAll(encodedPem)].flatMap(({ 0: token, index }) => {
    return pemsIn(fromBase64(token), { at: { file: path, line: lineAt(text, index) }, place, isWithin: true })
  })
  const pointers = [...text.matchAll(encodedIgnition)].flatMap(({ 0: token, index }) => {
    const inner = fromBase64(token)
    const at = { file: path, line: lineAt(text, index) }
    return [...inner.matchAll(encodedPem)].flatMap(({ 0: pem }) =>
      pemsIn(fromBase64(pem), { at, place, isWithin: true }),
    )
  })
  return [...plain, ...encoded, ...pointers]
}

interface Where {
  readonly at: Evidence
  readonly place: CertificatePlace
  /** True for text that is a field of the line `at`: lines within it are not lines of the file. */
  readonly isWithin?: boolean
}

function pemsIn(text: string, { at, place, isWithin = false }: Where): readonly CertificateText[] {
  return [...text.matchAll(pemPattern)].map(({ 0: pem, index }, position) => ({
    pem: pem.replaceAll('\\n', '\n').replace(/\n[ \t]+/g, '\n'),
    at: isWithin ? at : { file: at.file, line: lineAt(text, index) },
    place,
    isFirst: position === 0,
  }))
}

function fromBase64(token: string): string {
  return Buffer.from(token, 'base64').toString('latin1')
}

function placeOf(path: string): CertificatePlace {
  if (path.startsWith('/opt/openshift/tls/')) return 'tls'
  if (/^\/opt\/openshift\/auth\//.test(path)) return 'kubeconfig'
  if (/^\/etc\/(?:pki\/ca-trust\/source|containers\/certs\.d|docker\/certs\.d)\//.test(path)) return 'trust-anchor'
  return path.startsWith('/opt/openshift/') ? 'manifest' : 'other'
}

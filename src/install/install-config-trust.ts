/**
 * Certificates, pull secret and keys in an install-config. No finding repeats a secret.
 *
 * Source: openshift/installer `pkg/validate/validate.go` (CABundle, ImagePullSecret, SSHPublicKey).
 */
import { X509Certificate } from 'node:crypto'
import { fieldOf, textOf } from '../config/loose-values.ts'
import { placeholderHint } from '../config/placeholder.ts'
import { parsedJson } from '../errors/parsed-json.ts'
import type { InstallConfigDocument } from './install-config-document.ts'
import { hasMirrors, mirrorHosts } from './install-config-mirrors.ts'

export function checkTrust(config: InstallConfigDocument): void {
  checkBundle(config)
  checkPolicy(config)
  checkPullSecret(config)
  checkSshKey(config)
}

const block = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n[\s\S]*?-----END \1-----/g

function checkBundle(config: InstallConfigDocument): void {
  const text = textOf(config.value, 'additionalTrustBundle')
  if (text === undefined || text === '') return
  const tell = (summary: string, severity: 'error' | 'warning' = 'error') =>
    config.tell({ id: 'trust-bundle', severity, path: ['additionalTrustBundle'], summary, part: 'key' })
  const blocks = [...text.matchAll(block)]
  const last = blocks.at(-1)
  if (last === undefined) {
    tell(`no certificate in PEM form stands here${placeholderHint(text)}`)
    return
  }
  const rest = text.slice(last.index + last[0].length)
  if (!/^\r?\n?$/.test(rest))
    tell('something stands behind the last END line, and the installer calls it an invalid block; end there')
  for (const [index, [pem, kind]] of blocks.entries()) {
    const which = blocks.length === 1 ? 'this' : `block ${index + 1} of ${blocks.length}`
    if (kind !== 'CERTIFICATE') tell(`${which} is a "${kind}", and only "CERTIFICATE" belongs here`)
    else checkCertificate(pem, which, tell)
  }
}

function checkCertificate(pem: string, which: string, tell: (summary: string, severity?: 'warning') => void): void {
  const certificate = parseCertificate(pem)
  if (certificate === undefined) tell(`${which} is no certificate that can be read${placeholderHint(pem)}`)
  else if (!certificate.ca) {
    const name = certificate.subject.replaceAll('\n', ', ')
    tell(
      `${which} (${name}) is not a certificate authority: hosts that it should vouch for are refused; name the authority`,
      'warning',
    )
  }
}

function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function checkPolicy(config: InstallConfigDocument): void {
  const policy = textOf(config.value, 'additionalTrustBundlePolicy')
  const path = ['additionalTrustBundlePolicy']
  if (policy !== undefined && !['', 'Proxyonly', 'Always'].includes(policy)) {
    config.tell({ id: 'trust-bundle', path, summary: `"${policy}": supported values are "Proxyonly", "Always"` })
    return
  }
  const hasBundle = Boolean(textOf(config.value, 'additionalTrustBundle'))
  const hasProxy = fieldOf(config.value, 'proxy') !== undefined
  if (policy === 'Always' || hasProxy || !hasBundle || !hasMirrors(config)) return
  const summary =
    'without additionalTrustBundlePolicy: Always only nodes trust the bundle; pods that ask the mirror (catalogs, samples, builds) do not'
  config.tell({ id: 'trust-bundle', severity: 'warning', path: ['additionalTrustBundle'], summary, part: 'key' })
}

function checkPullSecret(config: InstallConfigDocument): void {
  const text = fieldOf(config.value, 'pullSecret')
  if (typeof text !== 'string' || text === '') return
  const tell = (summary: string, severity: 'error' | 'warning' = 'error') =>
    config.tell({ id: 'pull-secret', severity, path: ['pullSecret'], summary, part: 'key' })
  const value = parsedJson(text)
  if (value === undefined) {
    tell(`it is no JSON${placeholderHint(text)}`)
    return
  }
  const auths = fieldOf(value, 'auths')
  if (typeof auths !== 'object' || auths === null || Object.keys(auths).length === 0) {
    tell('auths required: it names no registry')
    return
  }
  for (const [host, entry] of Object.entries(auths)) {
    if (!textOf(entry, 'auth') && !textOf(entry, 'credsStore')) tell(`"${host}" requires either auth or credsStore`)
  }
  for (const host of mirrorHosts(config).filter((one) => !Object.hasOwn(auths, one))) {
    tell(
      `the mirror ${host} is not in it: without a login there nothing is pulled; add it, by exactly this name and port`,
      'warning',
    )
  }
}

/** The types that the installer's parser knows. */
const keyTypes =
  /^(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)$/

function checkSshKey(config: InstallConfigDocument): void {
  const text = textOf(config.value, 'sshKey')
  if (text === undefined) return
  const tell = (summary: string) => config.tell({ id: 'ssh-key', path: ['sshKey'], summary, part: 'key' })
  if (text.includes('PRIVATE KEY')) {
    tell('a private key stands here, and the public one is wanted (FILE.pub)')
    return
  }
  for (const line of text.split('\n').filter((one) => one.trim() !== '' && !one.trim().startsWith('#'))) {
    const words = line.trim().split(/\s+/)
    const at = words.findIndex((word) => keyTypes.test(word))
    const type = words[at]
    if (type === undefined || !isKeyOf(type, words[at + 1] ?? ''))
      tell(`a line of it is no public key${placeholderHint(line)}`)
    else if (config.value['fips'] === true && type.endsWith('ed25519'))
      tell(`SSH key type ${type} unavailable when FIPS is enabled. Please use rsa or ecdsa.`)
  }
}

/** The type stands inside of the key once more, behind its length (RFC 4253 6.6). */
function isKeyOf(type: string, encoded: string): boolean {
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.length > 4 + type.length && bytes.subarray(4, 4 + type.length).toString('latin1') === type
}

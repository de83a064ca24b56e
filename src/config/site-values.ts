/** The values that fields of `sallyport.yaml` take, each with what is said where one does not fit. */
import * as z from 'zod'
import { durationShape, parseDuration } from './duration.ts'
import { formatNetwork, parseNetwork } from './ip-network.ts'
import { placeholderHint } from './placeholder.ts'
import { releaseVersionPattern } from './versions.ts'

const label = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?'
const labelPattern = new RegExp(`^${label}$`)
const domainPattern = new RegExp(String.raw`^${label}(?:\.${label})*$`)
const host = String.raw`(?:${label}(?:\.${label})*|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\])`
/** 1 to 65535. */
const port = String.raw`(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])`
const registryPattern = new RegExp(`^${host}(?::${port})?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$`)
const addressPattern = new RegExp(`^(?:${host}|[0-9a-fA-F:]+)$`)
const secretPattern = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/
const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/

/** `cluster.example.com`, lower case, as DNS has it (RFC 1123). */
export function isDomainName(text: string): boolean {
  return text.length <= 253 && domainPattern.test(text)
}

/** Of an entry of `secrets`. */
export function isSecretName(text: string): boolean {
  return secretPattern.test(text)
}

/** A certificate or key where the file that holds it should be named. */
function looksLikeContent(text: string): boolean {
  return text.includes('\n') || /^(?:-----BEGIN |ssh-\w+ |ecdsa-)/.test(text)
}

/** One part of a DNS name. */
function isLabel(text: string): boolean {
  return labelPattern.test(text)
}

const said = (input: unknown) => `"${String(input)}"`
const orPlaceholder = (input: unknown, otherwise: string) => placeholderHint(String(input)) || otherwise

/**
 * Length of the name of a cluster that the installer takes: 63 of a label less what Kubernetes adds to it.
 *
 * Source: openshift/installer `pkg/validate/validate.go` ClusterName.
 */
const longestClusterName = 54

export const siteValues = {
  clusterName: z.string().superRefine((name, context) => {
    if (name.length <= longestClusterName && name.split('.').every(isLabel)) return
    const why =
      name.length > longestClusterName
        ? `is ${name.length} characters long, and the installer takes ${longestClusterName}`
        : 'is no DNS name: lower-case letters, digits and - are, the first and the last no -'
    context.addIssue({ code: 'custom', message: `${said(name)} ${why}${placeholderHint(name)}` })
  }),
  domain: z.string().refine(isDomainName, {
    error: ({ input }) =>
      `${said(input)} is no DNS domain${orPlaceholder(input, '; write lower-case names with . between them, for example lab.example.com')}`,
  }),
  address: z.string().regex(addressPattern, {
    error: ({ input }) => `${said(input)} is neither a host name nor an IP address${placeholderHint(String(input))}`,
  }),
  /** A place at a registry: `host:port/path`. */
  registry: z.string().regex(registryPattern, {
    error: ({ input }) =>
      `${said(input)} is no place at a registry${orPlaceholder(input, '; write host:port/path, without docker:// and without tag, for example mirror.example.com:8443/ocp4')}`,
  }),
  version: z.string().regex(releaseVersionPattern, {
    error: ({ input }) =>
      `${said(input)} is not a release version${orPlaceholder(input, '; write all three numbers, for example 4.18.9')}`,
  }),
  network: z.string().superRefine((text, context) => {
    const network = parseNetwork(text)
    if (network?.isNetworkAddress) return
    const message =
      network === undefined
        ? `${said(text)} is no network${orPlaceholder(text, '; write ADDRESS/LENGTH, for example 10.0.0.0/16')}`
        : `${said(text)} is the address of a host in that network, and the installer refuses it; write ${formatNetwork(network)}`
    context.addIssue({ code: 'custom', message })
  }),
  /** Text in a file beside `sallyport.yaml`, or at an absolute path. */
  file: z.string().refine((path) => path.trim() !== '' && !looksLikeContent(path), {
    error: ({ input }) =>
      looksLikeContent(String(input))
        ? 'the name of a file is wanted here, and this is what would stand in it; put it into a file, and write its name here'
        : 'the name of a file must stand here, and it is empty',
  }),
  /** The name of an entry of `secrets`. What stands there is never repeated: it may be the secret itself. */
  secretName: z.string().regex(secretPattern, {
    error:
      'the name of an entry of secrets is wanted here, and this is none; put the secret into a file, name it under secrets, and write its name here',
  }),
  variable: z.string().regex(variablePattern, {
    error: 'the name of an environment variable is wanted here: letters, digits and _; not its value',
  }),
  /** Stays text; `parseDuration` reads it. A number is unknown to the schema so that its words are these. */
  duration: z
    .unknown()
    .transform((value, context): string => {
      if (typeof value === 'string' && parseDuration(value) !== undefined) return value
      const isBare = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))
      const message = isBare
        ? `${value} has no unit; write ${value}m for minutes or ${value}s for seconds`
        : `${typeof value === 'string' ? said(value) : 'this'} is no duration; write hours, minutes and seconds, for example 1h30m, 45m or 90s`
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    })
    .meta({ type: 'string', pattern: durationShape, examples: ['45m', '1h30m'] }),
}

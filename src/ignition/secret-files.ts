/**
 * Which files of a config nobody else may see: by where they are, and by what is in them.
 *
 * Source: openshift/installer `data/data/bootstrap/files`, `pkg/asset/tls`, `pkg/asset/kubeconfig`, and what nodes keep their
 * credentials in.
 */
import { privateKeyHead } from '../errors/private-key.ts'

export type SecretKind =
  | 'pull secret'
  | 'private key'
  | 'kubeconfig'
  | 'password hashes'
  | 'Secret manifest'
  | 'key store'
  | 'credentials'

interface Sign {
  readonly kind: SecretKind
  readonly pattern: RegExp
}

const places: readonly Sign[] = [
  {
    kind: 'pull secret',
    pattern:
      /\/\.docker\/config\.json$|\/\.dockercfg$|\/\.dockerconfigjson$|^\/var\/lib\/kubelet\/config\.json$|\/auth\.json$|\/pull-?secret[^/]*$/,
  },
  { kind: 'private key', pattern: /\.key$|-key\.pem$|\/id_(?:rsa|dsa|ecdsa|ed25519)[^/.]*$|\/ssh_host_[^/]*_key$/ },
  {
    kind: 'kubeconfig',
    pattern: /\/kubeconfig(?:[-.][^/]*)?$|[-.]kubeconfig$|\/\.kube\/config$|^\/opt\/openshift\/auth\//,
  },
  { kind: 'password hashes', pattern: /^\/etc\/g?shadow-?$|\/\.?htpasswd[^/]*$|\/kubeadmin-password$/ },
  { kind: 'key store', pattern: /\.(?:p12|pfx|jks|keystore|keytab|kdbx|ppk)$/ },
  {
    kind: 'credentials',
    pattern:
      /\/(?:chrony|ntp)\.keys$|\/clouds\.yaml$|\/\.aws\/credentials$|\/\.netrc$|\/\.pgpass$|\/\.git-credentials$|\/opt\/metal3\/auth\/|\/(?:[^/]*[-_.])?tokens?$|\/gcp-(?:credentials|service-account)[^/]*\.json$/,
  },
]

const contents: readonly Sign[] = [
  { kind: 'private key', pattern: privateKeyHead },
  { kind: 'pull secret', pattern: /"auths"\s*:\s*\{\s*"|^auths:\s*$/m },
  { kind: 'kubeconfig', pattern: /"?client-key-data"?\s*:|^kind: "?Config"?\s*$[\s\S]*^\s*"?token"?:/m },
  // Where another object only names one, there is no data beside its kind.
  {
    kind: 'Secret manifest',
    pattern: /^( *)(?:- )?kind: *"?Secret"?[ \t]*$(?=[\s\S]*^\1(?: {2})?(?:data|stringData):)/m,
  },
  { kind: 'Secret manifest', pattern: /^( *)(?:- )?(?:data|stringData):(?=[\s\S]*^\1kind: *"?Secret"?[ \t]*$)/m },
  { kind: 'Secret manifest', pattern: /"kind"\s*:\s*"Secret"(?=[\s\S]*"(?:data|stringData)")/ },
  { kind: 'Secret manifest', pattern: /"(?:data|stringData)"\s*:(?=[\s\S]*"kind"\s*:\s*"Secret")/ },
  { kind: 'password hashes', pattern: /^[a-z_][\w.-]*:\$(?:2[abxy]?|5|6|y|apr1)\$/m },
]

/** What a file at this path is kept secret for; undefined where its place says nothing. */
export function secretKindOfPath(path: string): SecretKind | undefined {
  return places.find(({ pattern }) => pattern.test(path))?.kind
}

/** @param text of a file, or of a part of one; of bytes that are no text nothing is known */
function secretKindOfText(text: string): SecretKind | undefined {
  return contents.find(({ pattern }) => pattern.test(text))?.kind
}

/** The kind of secret that a file is, by its path first. */
export function secretKind(path: string, text: string): SecretKind | undefined {
  return secretKindOfPath(path) ?? secretKindOfText(text)
}

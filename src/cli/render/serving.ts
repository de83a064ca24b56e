import type { Account } from '../../registry/account.ts'

/** What a person, or a script with `--json`, has to know about a registry that now runs. */
export interface Serving {
  readonly url: string
  /** `HOST:PORT`, as image references begin. */
  readonly address: string
  readonly root: string
  readonly caFile?: string | undefined
  readonly htpasswd?: string | undefined
  /** Made by this start. */
  readonly account?: Account | undefined
  readonly username?: string | undefined
  readonly readOnly?: boolean | undefined
}

export function renderServing(serving: Serving): string {
  const { url, root, readOnly } = serving
  return [
    `Serving ${root} on ${url}${readOnly ? ' (read-only)' : ''}`,
    ...trustLines(serving),
    ...loginLines(serving),
    ...nextLines(serving),
    'Stop with Ctrl-C: uploads under way can be gone on with after the next start.',
    '',
  ].join('\n')
}

function trustLines({ address, caFile }: Serving): string[] {
  if (caFile === undefined) return []
  return [
    `  CA       ${caFile}`,
    `  trust    mkdir -p /etc/containers/certs.d/${address} && cp ${caFile} /etc/containers/certs.d/${address}/ca.crt`,
  ]
}

function loginLines({ address, url, htpasswd, account, username = 'USER' }: Serving): string[] {
  if (htpasswd === undefined) return ['  login    none: whoever reaches this address may push, pull and delete']
  const flags = url.startsWith('http:') ? ' --tls-verify=false' : ''
  const password = account === undefined ? '' : ` --password-stdin < ${account.passwordFile}`
  return [`  users    ${htpasswd}`, `  login    podman login${flags} --username ${username}${password} ${address}`]
}

function nextLines({ address, url, readOnly }: Serving): string[] {
  if (readOnly) return [`  next     skopeo list-tags docker://${address}/REPOSITORY`]
  const flags = url.startsWith('http:') ? ' --tls-verify=false' : ''
  return [
    `  next     podman push${flags} IMAGE ${address}/REPOSITORY:TAG`,
    `           sallyport mirror -c isc.yaml --workspace file://DIR docker://${address}`,
  ]
}

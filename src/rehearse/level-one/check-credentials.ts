/** The pull secret of the bootstrap host, before anybody is shown it. */
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import { credentialsFromText } from '../../remote/auth-file.ts'
import { evidenceText, lineWith } from './config-places.ts'
import type { RehearsedHost } from './level-one-report.ts'

const path = '/root/.docker/config.json'

export function checkPullSecret({ credentials, files, releaseImage }: BootstrapConfig): readonly Finding[] {
  if (releaseImage === undefined) return []
  const flaw = files.has(path) ? flawOf(credentials) : 'it is not in the config'
  if (flaw === undefined) return []
  const at = { file: path, line: 1 }
  return [
    finding({
      id: 'rehearse.pull-secret-invalid',
      severity: 'error',
      summary: `The pull secret cannot be used: ${flaw}. podman ends every pull with that`,
      evidence: evidenceText(at),
      remedy:
        'pullSecret of install-config.yaml is one line of JSON, {"auths":{"HOST:PORT":{"auth":"…"}}}: jq -e .auths pull-secret.json. Make the Ignition configs anew.',
      where: at,
    }),
  ]
}

function flawOf(credentials: BootstrapConfig['credentials']): string | undefined {
  if (credentials === undefined) return 'it is empty'
  if (credentials.flaw !== undefined) return credentials.flaw
  try {
    credentialsFromText(credentials.secretText, credentials.path)
    return undefined
  } catch (error) {
    if (error instanceof KnownError) return error.message
    throw error
  }
}

/** Mirrors that the pull secret does not name, and that could not be asked whether they want a password. */
export function checkMirrorKeys(bootstrap: BootstrapConfig, hosts: readonly RehearsedHost[]): readonly Finding[] {
  const { credentials, registries } = bootstrap
  if (credentials === undefined || credentials.flaw !== undefined) return []
  const keys = credentials.hosts
  const mirrors = new Set(
    registries.conf.registries.flatMap(({ mirrors: all }) => all.map(({ location }) => location.split('/')[0] ?? '')),
  )
  return [...mirrors]
    .filter((host) => !keys.some((key) => key === host || key.startsWith(`${host}/`)))
    .flatMap((host) => {
      const seen = hosts.find((one) => one.host === host)
      if (seen?.status === 401) return []
      const isOpen = seen?.status === 200
      const at = lineWith(bootstrap, credentials.path, host.replace(/:\d+$/, ''))
      return [
        finding({
          id: 'rehearse.pull-secret-without-mirror',
          severity: isOpen ? 'info' : 'warning',
          summary: `The pull secret has no entry for ${host}${isOpen ? ', which asks for none' : ''}`,
          evidence: evidenceText(at, `it has ${keys.length === 0 ? 'none at all' : keys.join(', ')}`),
          remedy: `Where ${host} asks for a password, add the key "${host}", exactly so, to pullSecret of install-config.yaml.`,
          ...(at && { where: at }),
        }),
      ]
    })
}

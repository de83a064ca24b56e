/** Whom a bootstrap host trusts, and as whom it asks: certificate authorities, credentials and proxies that the config holds. */
import { redact } from '../../errors/redact.ts'
import { isRecord } from '../plain-record.ts'
import type { BootstrapFile, BootstrapFiles } from './bootstrap-file.ts'

export interface TrustAnchor {
  readonly path: string
  /** One certificate or more. */
  readonly pem: string
  /** The registry, `HOST[:PORT]`, that alone it speaks for (certs.d); absent for the trust of the whole machine. */
  readonly registry?: string
}

const anchorPath = /^\/etc\/pki\/ca-trust\/source\/(?:anchors\/)?[^/]+$/
const registryPath = /^\/etc\/(?:containers|docker)\/certs\.d\/([^/]+)\/[^/]+\.crt$/

/** Files without a certificate are left out: the installer writes an empty ca.crt where there is no bundle. */
export function trustAnchors(files: BootstrapFiles): readonly TrustAnchor[] {
  return [...files.values()].flatMap(({ path, text }): readonly TrustAnchor[] => {
    if (!text.includes('-----BEGIN')) return []
    const registry = registryPath.exec(path)?.[1]
    if (registry !== undefined) return [{ path, pem: text, registry }]
    return anchorPath.test(path) ? [{ path, pem: text }] : []
  })
}

export interface BootstrapCredentials {
  readonly path: string
  /** `HOST[:PORT][/PATH]`, the keys of `auths`. */
  readonly hosts: readonly string[]
  /** The file itself: never print it. */
  readonly secretText: string
  /** Why nothing could be read of it. */
  readonly flaw?: string
}

const credentialsPath = '/root/.docker/config.json'

/** The only credentials that the installer gives to a bootstrap host. */
export function bootstrapCredentials(files: BootstrapFiles): BootstrapCredentials | undefined {
  const file = files.get(credentialsPath)
  if (file === undefined) return undefined
  const base = { path: credentialsPath, secretText: file.text }
  try {
    const document: unknown = JSON.parse(file.text)
    const auths = isRecord(document) ? document['auths'] : undefined
    if (!isRecord(auths)) return { ...base, hosts: [], flaw: 'it has no auths' }
    return { ...base, hosts: Object.keys(auths) }
  } catch (error) {
    if (error instanceof SyntaxError) return { ...base, hosts: [], flaw: 'it is not JSON' }
    throw error
  }
}

export interface ProxyEnvironment {
  /** Without user and password. */
  readonly httpProxy?: string
  readonly httpsProxy?: string
  readonly noProxy: readonly string[]
  /** As they are written: never print them. */
  readonly secretHttpProxy?: string
  readonly secretHttpsProxy?: string
  /** Where it is said. */
  readonly path: string
}

const unitEnvironment = '/etc/systemd/system.conf.d/10-default-env.conf'
const loginEnvironment = '/etc/profile.d/proxy.sh'

/** What services go by; what logins go by where only that is there. Undefined where no proxy is set. */
export function proxyEnvironment(files: BootstrapFiles): ProxyEnvironment | undefined {
  return environmentOf(files.get(unitEnvironment)) ?? environmentOf(files.get(loginEnvironment))
}

function environmentOf(file: BootstrapFile | undefined): ProxyEnvironment | undefined {
  if (file === undefined) return undefined
  const isUnit = file.path === unitEnvironment
  const value = (name: string): string | undefined => {
    const pattern = new RegExp(`^(?:export |DefaultEnvironment=).*?\\b${name}="?([^"\\s]*)"?`, 'm')
    const [, text = ''] = pattern.exec(file.text) ?? []
    // systemd reads %% as %; the installer doubles it since 4.16.
    return text === '' ? undefined : isUnit ? text.replaceAll('%%', '%') : text
  }
  const [http, https, noProxy] = [value('HTTP_PROXY'), value('HTTPS_PROXY'), value('NO_PROXY')]
  if (http === undefined && https === undefined && noProxy === undefined) return undefined
  return {
    ...(http !== undefined && { httpProxy: redact(http), secretHttpProxy: http }),
    ...(https !== undefined && { httpsProxy: redact(https), secretHttpsProxy: https }),
    noProxy: (noProxy ?? '').split(',').filter((entry) => entry !== ''),
    path: file.path,
  }
}

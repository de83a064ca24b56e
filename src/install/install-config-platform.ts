/** The platform of a site as install-config has it. */
import type { SiteConfig } from '../config/site-configuration.ts'
import { type PlatformName, platformOf, type SitePlatform } from '../config/site-platforms.ts'
import { KnownError } from '../errors/known-error.ts'
import { minorOf } from './release-minor.ts'

export interface PlatformMaterial {
  readonly version: string
  /** Value of a secret by its name under `secrets`; undefined where it is not there. */
  readonly secretOf: (name: string) => string | undefined
}

/** What install-config has besides `platform` because of it. */
export interface RenderedPlatform {
  readonly platform: object
  readonly publish?: 'Internal'
  readonly credentialsMode?: 'Manual'
}

/** vpc.subnets is read from 4.19 on; before it is subnets. */
const vpcSince = 19

/** @throws KnownError CONFIG_INVALID where a secret is missing */
export function renderPlatform(site: SiteConfig, material: PlatformMaterial): RenderedPlatform {
  const name = platformOf(site)
  const isClosed = site.variant === 'disconnected' || site.variant === 'private'
  return {
    platform: renderers[name](site.platform, material),
    ...(name === 'aws' && isClosed && { publish: 'Internal' as const }),
    // IAM cannot be reached from a closed VPC; on Nutanix there is no other mode.
    ...(((name === 'aws' && isClosed) || name === 'nutanix') && { credentialsMode: 'Manual' as const }),
  }
}

type Renderer = (platform: SitePlatform, material: PlatformMaterial) => object

const renderers: Readonly<Record<PlatformName, Renderer>> = {
  none: () => ({ none: {} }),
  lab: () => ({ none: {} }),
  baremetal: ({ baremetal }) => ({ baremetal: { ...baremetal } }),
  aws: renderAws,
  vsphere: renderVsphere,
  nutanix: renderNutanix,
}

function renderAws({ aws }: SitePlatform, { version }: PlatformMaterial): object {
  if (aws === undefined) return {}
  const { subnets = [], credentials: _, region, ...others } = aws
  const isOld = (minorOf(version) ?? vpcSince) < vpcSince
  const network = isOld ? { subnets } : { vpc: { subnets: subnets.map((id) => ({ id })) } }
  return { aws: { region, ...(subnets.length > 0 && network), ...others } }
}

function renderVsphere({ vsphere }: SitePlatform, material: PlatformMaterial): object {
  if (vsphere === undefined) return {}
  const { vcenters, ...others } = vsphere
  const withLogin = vcenters.map(({ credentials, ...vcenter }) => {
    const { user, password } = loginOf(credentials, material)
    return { ...vcenter, user, password }
  })
  return { vsphere: { vcenters: withLogin, ...others } }
}

function renderNutanix({ nutanix }: SitePlatform, material: PlatformMaterial): object {
  if (nutanix === undefined) return {}
  const { prismCentral, prismElements, ...others } = nutanix
  const { user, password } = loginOf(prismCentral.credentials, material)
  const { address, port } = prismCentral
  return {
    nutanix: {
      prismCentral: { endpoint: { address, port }, username: user, password },
      prismElements: prismElements.map(({ address: host, port: at, ...element }) => ({
        ...element,
        endpoint: { address: host, port: at },
      })),
      ...others,
    },
  }
}

function loginOf(name: string, { secretOf }: PlatformMaterial): { readonly user: string; readonly password: string } {
  const [user = '', ...password] = (secretOf(name) ?? '').trim().split(':')
  if (user !== '' && password.length > 0) return { user, password: password.join(':') }
  throw new KnownError('CONFIG_INVALID', `secrets.${name}: USER:PASSWORD on one line is wanted, and it is not there`)
}

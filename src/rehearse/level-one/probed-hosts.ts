/** The registries that were looked at, as a report has them. */
import type { X509Certificate } from 'node:crypto'
import type { ProbedHost } from '../pull/host-probe.ts'
import { alternativeNames } from '../pull/judge-certificate.ts'
import type { RehearsedHost, ServerCertificate, Side } from './level-one-report.ts'
import type { SideAccess } from './pull-images.ts'

/** Each once, with the sides that asked it; what one of them met counts where the other met nothing. */
export async function rehearsedHosts(access: SideAccess): Promise<readonly RehearsedHost[]> {
  const here = await access.bootstrap.probed()
  const there = (await access.nodes?.probed()) ?? []
  const seen = [...here.map((host) => ['bootstrap', host] as const), ...there.map((host) => ['nodes', host] as const)]
  const groups = Map.groupBy(seen, ([, { host }]) => host)
  return Promise.all(
    [...groups].map(async ([host, all]) => {
      const [first] = all
      const failing = all.find(([, { failure }]) => failure !== undefined)
      const [side, probed] = failing ?? first ?? (['bootstrap', { host }] as const)
      const sides = [...new Set<Side>(all.map(([own]) => own))]
      const resolver = access[side] ?? access.bootstrap
      return reported(probed, sides, await resolver.resolveName(host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')))
    }),
  )
}

function reported(
  { host, status, proxy, skewMs, certificate, failure }: ProbedHost,
  sides: readonly Side[],
  addresses: readonly string[],
): RehearsedHost {
  return {
    host,
    sides,
    addresses,
    ...(status !== undefined && { status }),
    ...(proxy !== undefined && { proxy }),
    ...(skewMs !== undefined && { skewMs }),
    ...(certificate && { certificate: described(certificate) }),
    ...(failure && { fault: failure.fault, message: failure.message }),
  }
}

function described(certificate: X509Certificate): ServerCertificate {
  const { names, addresses } = alternativeNames(certificate)
  const oneLine = (name: string | undefined) => (name ?? '').split('\n').join(', ')
  return {
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    names: [...names, ...addresses],
    notBefore: certificate.validFromDate.toISOString(),
    notAfter: certificate.validToDate.toISOString(),
  }
}

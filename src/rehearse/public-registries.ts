/** Registries of the Internet, which a closed network has no way to: what they would answer here says nothing. */
const publicRegistries = new Set([
  'quay.io',
  'docker.io',
  'registry-1.docker.io',
  'index.docker.io',
  'gcr.io',
  'ghcr.io',
  'mcr.microsoft.com',
  'nvcr.io',
  'public.ecr.aws',
  'registry.access.redhat.com',
  'registry.ci.openshift.org',
  'registry.k8s.io',
  'registry.redhat.io',
  'registry.svc.ci.openshift.org',
  'icr.io',
  'registry.connect.redhat.com',
])

const publicDomains = [
  '.quay.io',
  '.gcr.io',
  '.redhat.io',
  '.redhat.com',
  '.docker.io',
  '.pkg.dev',
  '.ci.openshift.org',
]

/** @param registry `host` or `host:port` */
export function isPublicRegistry(registry: string): boolean {
  return publicRegistries.has(registry) || publicDomains.some((domain) => registry.endsWith(domain))
}

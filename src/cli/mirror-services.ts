/** What `mirror` asks beside registries: the update service, signature stores, the web. */
import type { MirrorServices } from '../flows/mirror-services.ts'
import { ReleaseTrust } from '../flows/release-trust.ts'
import type { CheckImage } from '../mirror/resolve-images.ts'
import type { Workspace } from '../mirror/workspace.ts'
import { graphCacheDirectory, withGraphCache } from '../release/graph-cache.ts'
import { GraphClient } from '../release/graph-client.ts'
import type { WebClient } from '../remote/web-client.ts'
import { ImagePolicy, policyRejected } from '../trust/image-policy.ts'
import { loadReleaseKeys } from '../trust/release-key.ts'
import { loadSigstoreKey } from '../trust/release-sigstore.ts'
import { SignatureDirectory, withSignatureCache } from '../trust/signature-directory.ts'
import { SignatureStore, signatureStores } from '../trust/signature-store.ts'
import type { CliContext } from './context.ts'
import { versionFilter } from './graph-access.ts'
import type { MirrorOptions } from './mirror-options.ts'
import { sideAccess } from './side-access.ts'
import { openWeb } from './web-access.ts'

export interface OpenServices {
  readonly services: MirrorServices
  readonly close: () => void
}

/** @throws KnownError where a key, a policy or a variable does not load; nothing is asked yet */
export async function openServices(
  options: MirrorOptions,
  workspace: Workspace,
  context: CliContext,
): Promise<OpenServices> {
  const { env, clock, log, cwd } = context
  const web = await openWeb(options, context)
  const updateUrl = env['UPDATE_URL_OVERRIDE']
  const graphs = withGraphCache(new GraphClient({ web, override: updateUrl }), {
    directory: graphCacheDirectory(workspace.root),
    clock,
    report: ({ summary }) => log.warn(summary),
  })
  const services: MirrorServices = {
    graphs,
    versionFilter: versionFilter(env),
    trust: await openTrust(options, { workspace, web }, context),
    checkImage: options.securePolicy ? await openPolicy(options, web, context) : undefined,
    cwd,
    charts: { web, credentials: sideAccess('src', options, context).credentials, helm: { env, clock } },
    making: { web, updateUrl, tell: (line) => log.info(line) },
  }
  return { services, close: () => web.close() }
}

async function openTrust(
  { ignoreReleaseSignature, sigstoreKey }: MirrorOptions,
  { workspace, web }: { readonly workspace: Workspace; readonly web: WebClient },
  { env, clock, log }: CliContext,
): Promise<ReleaseTrust> {
  const directory = new SignatureDirectory(`${workspace.root}/signatures`)
  const stores = signatureStores(env['OCP_SIGNATURE_URL'])
  const isIgnored = ignoreReleaseSignature === true
  const keys = await Promise.all((sigstoreKey ?? []).map(loadSigstoreKey))
  return new ReleaseTrust({
    // Who does not care for signatures must not wait for a store that a firewall hides.
    signatures: isIgnored ? directory : withSignatureCache(new SignatureStore({ client: web, stores }), directory, log),
    keys: () => loadReleaseKeys(env['OCP_SIGNATURE_VERIFICATION_PK']),
    clock,
    directory,
    isIgnored,
    sigstoreKeys: keys,
  })
}

async function openPolicy(
  { policy: policyPath, ...options }: MirrorOptions,
  web: WebClient,
  { env, clock }: CliContext,
): Promise<CheckImage> {
  const policy = await ImagePolicy.load({
    ...{ policyPath, registriesD: options['registries.d'], env, clock },
    userId: process.getuid?.(),
    // As oc-mirror sets it up for every registry (openshift/oc-mirror `internal/pkg/cli/registriesd.go`).
    usesAttachmentsByDefault: true,
  })
  return async ({ image: { selected, digest, manifests } }, { source, signal }) => {
    const instances = manifests.filter((one) => one.children.length === 0 && one.descriptor.digest !== digest)
    const image = { source: selected.source, digest, instances: instances.map(({ descriptor }) => descriptor.digest) }
    const verdict = await policy.evaluate(image, { source, web, signal })
    if (!verdict.accepted) throw policyRejected(selected.source, verdict)
  }
}

/**
 * The nodes of a cluster, seen as one more host that pulls: mirrors, trust, credentials and names as the manifests in the
 * bootstrap config give them to the control plane.
 *
 * Source: openshift/machine-config-operator `pkg/controller/template/render.go` (pull secret and user CA bundle of the
 * controller config), `pkg/controller/bootstrap/bootstrap.go`.
 */
import type { File, IgnitionConfig } from '../../ignition/config.ts'
import { type BootstrapConfig, readBootstrap } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { Evidence } from '../../openshift/bootstrap/bootstrap-file.ts'
import {
  type BootstrapCredentials,
  bootstrapCredentials,
  type TrustAnchor,
} from '../../openshift/bootstrap/bootstrap-trust.ts'
import { type Manifest, manifestDocument } from '../../openshift/bootstrap/manifests.ts'
import type { NodeRegistries } from '../../openshift/bootstrap/node-registries.ts'
import { isRecord, textAt, valueAt } from '../../openshift/plain-record.ts'
import { mergeRegistriesConf } from '../../registries/registries-conf.ts'

export interface NodeView {
  /** The config with what nodes have in the place of what the bootstrap host has. */
  readonly host: BootstrapConfig
  /** Where their trust and their credentials are said. */
  readonly trust?: Evidence
  readonly credentials?: Evidence
  /** Where their mirrors are said. */
  readonly mirrors: readonly Manifest[]
}

/** Undefined where the operator refuses their mirrors: no machine gets a config then. */
export function nodeView(bootstrap: BootstrapConfig, { conf, manifests }: NodeRegistries): NodeView | undefined {
  if (conf === undefined) return undefined
  const own = machineConfigHost(bootstrap)
  const bundle = clusterObject(bootstrap, 'ConfigMap', 'user-ca-bundle')
  const secret = clusterObject(bootstrap, 'Secret', 'pull-secret')
  const credentials = secret && credentialsIn(secret)
  const { credentials: _, ...rest } = bootstrap
  const host: BootstrapConfig = {
    ...rest,
    registries: { ...bootstrap.registries, conf: mergeRegistriesConf(conf, [own.registries.conf]) },
    trustAnchors: [...(bundle === undefined ? [] : anchorsIn(bundle)), ...own.trustAnchors],
    hosts: own.hosts,
    ...(credentials !== undefined && { credentials }),
  }
  return {
    host,
    mirrors: manifests,
    ...(bundle !== undefined && { trust: { file: bundle.path, line: bundle.line } }),
    ...(secret !== undefined && { credentials: { file: secret.path, line: secret.line } }),
  }
}

function clusterObject({ manifests }: BootstrapConfig, kind: string, name: string): Manifest | undefined {
  return manifests.find((one) => one.kind === kind && one.name === name && one.namespace === 'openshift-config')
}

function anchorsIn(bundle: Manifest): readonly TrustAnchor[] {
  const pem = textAt(manifestDocument(bundle), 'data', 'ca-bundle.crt')
  return pem === undefined ? [] : [{ path: bundle.path, pem }]
}

const credentialsPath = '/root/.docker/config.json'

function credentialsIn(secret: Manifest): BootstrapCredentials | undefined {
  const document = manifestDocument(secret)
  const encoded = textAt(document, 'data', '.dockerconfigjson')
  const plain = textAt(document, 'stringData', '.dockerconfigjson')
  const text = encoded === undefined ? plain : Buffer.from(encoded, 'base64').toString('utf8')
  if (text === undefined) return undefined
  const file = { path: credentialsPath, mode: 0o600, sizeBytes: text.length, text, isAppended: false }
  const read = bootstrapCredentials(new Map([[credentialsPath, file]]))
  return read && { ...read, path: secret.path }
}

/** What MachineConfigs for the control plane bring, in the order in which the operator merges them: that of their names. */
function machineConfigHost({ manifests, fileName }: BootstrapConfig): BootstrapConfig {
  const files = manifests
    .filter(({ kind, text }) => kind === 'MachineConfig' && /\brole["']?:\s*["']?master\b/.test(text))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap(filesIn)
  const config: IgnitionConfig = { ignition: { version: '3.2.0' }, storage: { files } }
  return readBootstrap(config, { fileName })
}

function filesIn(manifest: Manifest): readonly File[] {
  const files = valueAt(manifestDocument(manifest), 'spec', 'config', 'storage', 'files')
  if (!Array.isArray(files)) return []
  return files.filter((file: unknown): file is File => isRecord(file) && typeof file['path'] === 'string')
}

/**
 * A sample bootstrap.ign: Ignition 3.2.0, as the installer of OpenShift 4.14 to 4.22 makes it, with scripts of our own.
 *
 * Determined by its options. Source of order, modes and encoding: openshift/installer
 * `pkg/asset/ignition/bootstrap/common.go:AddStorageFiles, addParentFiles`.
 */
import type { File, IgnitionConfig, Unit } from '../../ignition/config.ts'
import { encodeDataUrl } from '../../ignition/data-url.ts'
import { apiScripts } from './api-scripts.ts'
import { bootkubeScript } from './bootkube-script.ts'
import { isSince, type SampleBootstrapOptions } from './bootstrap-options.ts'
import { bootstrapUnits, nodeImageUnits } from './bootstrap-units.ts'
import { clusterManifests } from './cluster-manifests.ts'
import { gatherScripts } from './gather-scripts.ts'
import { kubeconfigFiles } from './kubeconfig-files.ts'
import { nodeImageGenerator, nodeImageOverlayScript, nodeImagePullScript } from './node-image-scripts.ts'
import { platformFiles } from './platform-files.ts'
import { releaseImageScripts } from './release-image-scripts.ts'
import { serviceRecordScript } from './service-record-script.ts'
import { systemFiles } from './system-files.ts'
import { isOnBootstrap } from './tls-plan.ts'
import { versionOverrides } from './version-overrides.ts'

/** The text of the file, in one line as the installer writes it. */
export function sampleBootstrap(options: SampleBootstrapOptions): string {
  const config: IgnitionConfig = {
    ignition: { version: '3.2.0' },
    passwd: { users: [{ name: 'core', sshAuthorizedKeys: options.sshKeys ?? [] }] },
    storage: { files: replaced(filesOf(options), options.files ?? [], ({ path }) => path) },
    systemd: { units: replaced<Unit>(bootstrapUnits(options), options.units ?? [], ({ name }) => name) },
  }
  return JSON.stringify(config)
}

function filesOf(options: SampleBootstrapOptions): readonly File[] {
  const { era, tls } = options
  const manifests = clusterManifests(options)
  const below = (root: string, texts: Readonly<Record<string, string>>) =>
    Object.entries(texts).map(([name, text]) => [`${root}/${name}`, text] as const)
  const texts = Object.fromEntries([
    ...Object.entries(systemFiles(options)),
    ...below('/usr/local/bin', scriptsOf(options)),
    ...(isSince(era, '4.19') ? [[generator, nodeImageGenerator] as const] : []),
    ...below('/etc/systemd/system', nodeImageUnits(era)),
    ...Object.entries(platformFiles(options)),
    ...below('/opt/openshift', { ...manifests, ...versionOverrides(manifests, era) }),
    ...below('/opt/openshift', kubeconfigFiles(options)),
    ...below('/opt/openshift/tls', Object.fromEntries(Object.entries(tls).filter(([name]) => isOnBootstrap(name)))),
  ])
  return Object.entries(texts).map(([path, text]) => fileOf(path, text))
}

const generator = '/etc/systemd/system-generators/node-image-overlay-generator'

function scriptsOf(options: SampleBootstrapOptions): Readonly<Record<string, string>> {
  return {
    ...apiScripts,
    'bootkube.sh': bootkubeScript(options),
    'bootstrap-service-record.sh': serviceRecordScript,
    ...gatherScripts,
    ...releaseImageScripts(options),
    ...(isSince(options.era, '4.19') && {
      'node-image-overlay.sh': nodeImageOverlayScript,
      'node-image-pull.sh': nodeImagePullScript,
    }),
  }
}

function fileOf(path: string, text: string): File {
  const contents = { source: encodeDataUrl(text) }
  const node = { path, user: { name: 'root' } }
  if (path === '/etc/motd') return { ...node, append: [contents], mode: 0o644, overwrite: false }
  return { ...node, contents, mode: modeOf(path), overwrite: true }
}

function modeOf(path: string): number {
  if (/\/(?:bin|dispatcher\.d|system-generators)\/[^/]+$/.test(path)) return 0o555
  // rpm-ostree reads registries.conf as another user (openshift/installer pull request 6789).
  const isPublic = /\/registries\.conf$|^\/opt\/openshift\/(?:manifests|openshift)\/|\/original_cvo_overrides\.patch$/
  return isPublic.test(path) || path === '/opt/openshift/tls/root-ca.crt' ? 0o644 : 0o600
}

/** `base` with those of `others` in the place of what has the same key, or at the end. */
function replaced<T>(base: readonly T[], others: readonly T[], keyOf: (item: T) => string): readonly T[] {
  return [...new Map([...base, ...others].map((item) => [keyOf(item), item])).values()]
}

/** What `ignition inspect --json` prints: everything but secrets. */
import type { Finding } from '../../errors/finding.ts'
import { isSecretFile } from '../../openshift/bootstrap/bootstrap-file.ts'
import { explainUnit } from '../../openshift/bootstrap/explain-units.ts'
import type { Inspection } from '../../openshift/bootstrap/inspection.ts'
import { isSecretManifest } from '../../openshift/bootstrap/manifests.ts'
import { rootAuthority } from '../../openshift/bootstrap/same-run.ts'
import { explainedFiles } from './ignition-inspect-files.ts'

/** @param now milliseconds since the epoch */
export function inspectionDocument(
  inspections: readonly Inspection[],
  findings: readonly Finding[],
  now: number,
): object {
  return { now: new Date(now).toISOString(), configs: inspections.map(configDocument), findings }
}

function configDocument(inspection: Inspection): object {
  const { fileName, sizeBytes, inspected, bootstrap, pointers, useBefore, nodes, differences, images } = inspection
  const { cluster, releaseImage, otherReleaseImages, registries, distribution, features } = bootstrap
  const { installConfig: _, ...clusterFacts } = cluster
  const { config: __, ...what } = inspected
  const root = rootAuthority(inspection)
  return {
    file: fileName,
    sizeBytes,
    ...what,
    ...(inspected.kind === 'bootstrap' && { distribution, features }),
    cluster: clusterFacts,
    ...(releaseImage !== undefined && { releaseImage: { text: releaseImage.text, evidence: releaseImage.evidence } }),
    otherReleaseImages: otherReleaseImages.map(({ text, evidence }) => ({ text, evidence })),
    images: images.images,
    literalImages: images.literals.map(({ text, evidence }) => ({ text, evidence })),
    unresolvedImages: images.unresolved,
    registries: {
      files: registries.files,
      conf: registries.conf,
      errors: registries.errors.map(({ code, message, details }) => ({ code, message, details })),
    },
    ...(nodes !== undefined && { nodes: nodesDocument(nodes) }),
    differences: differences.map(({ finding: _finding, ...difference }) => difference),
    pointers,
    ...(root !== undefined && { rootAuthority: root.fingerprint }),
    ...(useBefore !== undefined && { useBefore: useBefore.notAfter }),
    ...accessDocument(inspection),
    certificates: inspection.certificates.certificates.map(({ pem: _pem, ...certificate }) => certificate),
    brokenCertificates: inspection.certificates.broken,
    files: filesDocument(inspection),
    manifests: manifestsDocument(inspection),
    units: unitsDocument(inspection),
  }
}

function nodesDocument({ conf, manifests }: NonNullable<Inspection['nodes']>): object {
  return { conf, manifests: manifests.map(({ path, line, kind, name }) => ({ path, line, kind, name })) }
}

function accessDocument({ bootstrap, inspected }: Inspection): object {
  const { credentials, proxy, trustAnchors, hosts } = bootstrap
  return {
    trustAnchors: trustAnchors.map(({ path, registry }) => ({ path, registry })),
    ...(credentials !== undefined && { credentials: { path: credentials.path, hosts: credentials.hosts } }),
    ...(proxy !== undefined && {
      proxy: { httpProxy: proxy.httpProxy, httpsProxy: proxy.httpsProxy, noProxy: proxy.noProxy, path: proxy.path },
    }),
    hosts,
    users: (inspected.config.passwd?.users ?? []).map(({ name, sshAuthorizedKeys, groups, passwordHash }) => ({
      name,
      sshKeys: sshAuthorizedKeys?.length ?? 0,
      groups: groups ?? [],
      hasPassword: passwordHash !== undefined && passwordHash !== null && passwordHash !== '',
    })),
  }
}

function filesDocument(inspection: Inspection): readonly object[] {
  return [...explainedFiles(inspection).values()].flat().map(({ file, explanation }) => ({
    path: file.path,
    mode: file.mode.toString(8).padStart(4, '0'),
    sizeBytes: file.sizeBytes,
    group: explanation.group,
    purpose: explanation.text,
    isAdded: explanation.isAdded,
    isSecret: isSecretFile(file),
    ...(file.flaw !== undefined && { flaw: file.flaw }),
  }))
}

function manifestsDocument({ bootstrap }: Inspection): readonly object[] {
  return bootstrap.manifests.map((manifest) => {
    const { text: _, ...rest } = manifest
    return { ...rest, isSecret: isSecretManifest(manifest) }
  })
}

function unitsDocument({ order }: Inspection): object {
  return {
    order: order.units.map((unit) => ({ ...unit, purpose: explainUnit(unit.name, unit.description).text })),
    circles: order.circles,
    missing: order.missing,
  }
}

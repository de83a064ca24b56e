/**
 * The signatures of mirrored releases as cluster resources, under the file names of oc-mirror v2; unlike there, with what an earlier run
 * wrote, so that an older cluster can still verify its way up.
 */
import { join } from 'node:path'
import {
  mergeReleaseSignatures,
  parseSignatureConfigMaps,
  type ReleaseSignatures,
  renderSignatureConfigMaps,
} from '../openshift/signature-config-map.ts'
import { readIfPresent, type Workspace, writeIfChanged } from './workspace.ts'

/** YAML and JSON say the same: `oc apply -f` takes either. */
const files = { yaml: 'signature-configmap.yaml', json: 'signature-configmap.json' } as const

/**
 * Writes the ConfigMaps into `cluster-resources/`, merged with what is there; returns the paths, none where there are no signatures.
 *
 * @throws KnownError CONFIG_INVALID where a file there cannot be read, so that nothing in it is lost; DISK_FULL
 */
export async function writeSignatureConfigMaps(
  workspace: Pick<Workspace, 'clusterResources'>,
  signatures: ReleaseSignatures,
): Promise<string[]> {
  const rendered = renderSignatureConfigMaps(
    mergeReleaseSignatures(await readSignatureConfigMaps(workspace), signatures),
  )
  if (rendered.yaml === '') return []
  const paths = []
  for (const kind of ['yaml', 'json'] as const) {
    const path = join(workspace.clusterResources, files[kind])
    await writeIfChanged(path, rendered[kind])
    paths.push(path)
  }
  return paths
}

/**
 * The signatures that are there, by digest of their release.
 *
 * @throws KnownError CONFIG_INVALID
 */
export async function readSignatureConfigMaps(
  workspace: Pick<Workspace, 'clusterResources'>,
): Promise<ReleaseSignatures> {
  return mergeReleaseSignatures(...(await Promise.all(Object.values(files).map((name) => readBefore(workspace, name)))))
}

async function readBefore({ clusterResources }: Pick<Workspace, 'clusterResources'>, name: string) {
  const path = join(clusterResources, name)
  return parseSignatureConfigMaps((await readIfPresent(path)) ?? '', path)
}

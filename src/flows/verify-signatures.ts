/** Whether the version operator of a cluster will find a signature for each release that was mirrored. */
import { type Finding, finding } from '../errors/finding.ts'
import { readDone } from '../mirror/done.ts'
import { readSignatureConfigMaps } from '../mirror/signature-resources.ts'
import type { Workspace } from '../mirror/workspace.ts'

/**
 * @param target `HOST/PATH`
 * @throws KnownError CONFIG_INVALID where the ConfigMap cannot be read
 */
export async function findUnsignedReleases(workspace: Workspace, target: string): Promise<Finding[]> {
  const images = (await readDone(workspace)).get(target) ?? []
  const releases = images.filter(({ isReleaseImage }) => isReleaseImage)
  if (releases.length === 0) return []
  const signed = await readSignatureConfigMaps(workspace)
  return releases
    .filter(({ digest }) => !signed.has(digest))
    .map(({ source, digest }) =>
      finding({
        id: 'mirror.release-unsigned',
        severity: 'warning',
        summary: `no signature of ${digest} is in ${workspace.clusterResources}/signature-configmap.yaml (${source})`,
        remedy:
          'A cluster does not update to it without oc adm upgrade --force; an installation is not concerned. Mirror the release again where its signature can be had.',
      }),
    )
}

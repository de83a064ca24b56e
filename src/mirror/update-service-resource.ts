import { join } from 'node:path'
import { formatReference, repositoryName } from '../oci/reference.ts'
import { renderUpdateService } from '../openshift/update-service.ts'
import { type MirrorTarget, releaseRepositories, targetRepository } from './destination.ts'
import { graphImageSelected } from './graph-image.ts'
import { readIfPresent, type Workspace, writeIfChanged } from './workspace.ts'

/**
 * Writes `cluster-resources/updateService.yaml` for the graph image and the releases of a target; gives its path.
 *
 * @throws KnownError CONFIG_INVALID when what is there cannot be read, so that nothing in it is lost
 */
export async function writeUpdateService(workspace: Workspace, target: MirrorTarget): Promise<string> {
  const path = join(workspace.clusterResources, 'updateService.yaml')
  const text = await readIfPresent(path)
  const spec = {
    releases: repositoryName(targetRepository(target, releaseRepositories.images)),
    graphDataImage: formatReference(graphImageSelected(target).destination),
  }
  await writeIfChanged(path, renderUpdateService(spec, text === undefined ? undefined : { text, file: path }))
  return path
}

import { formatReference, type Reference } from '../oci/reference.ts'
import type { ResolvedImage } from './closure.ts'
import type { SelectedImage } from './selection.ts'

/**
 * The text of `mapping.txt`: a line an image, sorted, as oc-mirror writes them.
 *
 * @param resolved adds a line by digest for every manifest below an index, as `--dry-run-manifest-lists` does
 * (openshift/oc-mirror `internal/pkg/cli/dryrun.go`): a tag for each would overwrite that of the index
 */
export function mappingText(images: readonly SelectedImage[], resolved: readonly ResolvedImage[] = []): string {
  const platforms = new Map(resolved.map((image) => [formatReference(image.selected.destination), image]))
  const blocks = images.map(({ source, destination }) => {
    const name = formatReference(destination)
    return [mappingLine(pulled(source), destination), ...platformLines(platforms.get(name))].join('')
  })
  return blocks.sort().join('')
}

/** By digest where there is one, as oc-mirror pulls it: most tools refuse a name with a tag and a digest. */
function pulled({ tag, ...source }: Reference): Reference {
  return source.digest === undefined && tag !== undefined ? { ...source, tag } : source
}

function platformLines(image: ResolvedImage | undefined): string[] {
  if (!image) return []
  const { source, destination } = image.selected
  const { registry, repository } = destination
  return image.manifests
    .filter(({ descriptor }) => descriptor.digest !== image.digest)
    .map(({ descriptor: { digest } }) => mappingLine({ ...pulled(source), digest }, { registry, repository, digest }))
}

function mappingLine(source: Reference, destination: Reference): string {
  return `docker://${formatReference(source)}=docker://${formatReference(destination)}\n`
}

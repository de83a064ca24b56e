/** Everything that a registry holds, read over its own protocol, to compare one registry with another. */
import { digestOf, isDigest } from '../src/oci/digest.ts'
import { manifestAccept } from '../src/oci/media-type.ts'

/** By `REPOSITORY:TAG`, `REPOSITORY@DIGEST` and `REPOSITORY blob DIGEST`: the digest of what is there. */
export type RegistrySnapshot = Readonly<Record<string, string>>

/**
 * All repositories of `url`, their tags, the manifests below them and the blobs of these: every byte is read and hashed.
 *
 * @param digests further manifests by `REPOSITORY@DIGEST`, since those without a tag are in no list
 */
export async function snapshotRegistry(url: string, digests: readonly string[] = []): Promise<RegistrySnapshot> {
  const { repositories } = (await json(`${url}/v2/_catalog?n=1000`)) as { repositories: string[] }
  const seen: Record<string, string> = {}
  for (const repository of repositories) {
    const { tags } = (await json(`${url}/v2/${repository}/tags/list`)) as { tags: string[] | null }
    for (const tag of tags ?? []) {
      seen[`${repository}:${tag}`] = await walk({ url, repository, seen }, tag)
    }
  }
  for (const name of digests) {
    const [repository = '', digest = ''] = name.split('@')
    await walk({ url, repository, seen }, digest)
  }
  return Object.fromEntries(Object.entries(seen).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

interface Walk {
  readonly url: string
  readonly repository: string
  readonly seen: Record<string, string>
}

async function walk({ url, repository, seen }: Walk, reference: string): Promise<string> {
  if (isDigest(reference) && seen[`${repository}@${reference}`] !== undefined) return reference
  const answer = await fetch(`${url}/v2/${repository}/manifests/${reference}`, { headers: { accept: manifestAccept } })
  if (!answer.ok) return `status ${answer.status}`
  const bytes = new Uint8Array(await answer.arrayBuffer())
  const digest = digestOf(bytes)
  seen[`${repository}@${isDigest(reference) ? reference : digest}`] = `${answer.headers.get('content-type')} ${digest}`
  const { manifests = [], config, layers = [] } = JSON.parse(Buffer.from(bytes).toString('utf8')) as ManifestShape
  for (const child of manifests) await walk({ url, repository, seen }, child.digest)
  for (const blob of [...(config ? [config] : []), ...layers]) await readBlob({ url, repository, seen }, blob.digest)
  return digest
}

async function readBlob({ url, repository, seen }: Walk, digest: string): Promise<void> {
  const key = `${repository} blob ${digest}`
  if (seen[key] !== undefined) return
  const answer = await fetch(`${url}/v2/${repository}/blobs/${digest}`)
  const bytes = new Uint8Array(await answer.arrayBuffer())
  seen[key] = answer.ok ? digestOf(bytes) : `status ${answer.status}`
}

interface ManifestShape {
  readonly manifests?: readonly { readonly digest: string }[]
  readonly config?: { readonly digest: string }
  readonly layers?: readonly { readonly digest: string }[]
}

async function json(url: string): Promise<unknown> {
  return (await fetch(url)).json()
}

/**
 * Where everything lies in a store. Small files and renames only, so that `ls` and `cat` are enough to look into it.
 *
 *   ROOT/
 *     store.json                                     {"layout":1}
 *     blobs/<algorithm>/<hex>                        proven bytes under the name of their digest; never written to
 *     staging/<host>~<pid>~<id>[.manifest]           bytes on their way in, not proven
 *     uploads/<uuid>                                 an unfinished upload: the length of the file is its offset
 *     trash/<id>                                     what garbage collection took away and is about to look at again
 *     repositories/<name>/
 *       _blobs/<algorithm>/<hex>                     empty: this repository has that blob
 *       _manifests/<algorithm>/<hex>                 the media type that the manifest was pushed with
 *       _tags/<tag>                                  the digest that the tag stands for
 *       _referrers/<algorithm>/<hex>/<algorithm>-<hex>   subject / referrer: the descriptor of the referrer, as JSON
 *
 * A component of a repository name never begins with `_` (distribution-spec, `<name>`), so names and records cannot meet.
 */
import { join } from 'node:path'
import { algorithmOf, type Digest, hexOf } from '../oci/digest.ts'

export interface StorePaths {
  readonly root: string
  readonly layout: string
  readonly staging: string
  readonly uploads: string
  readonly trash: string
  readonly blobs: string
  readonly repositories: string
  blob(digest: Digest): string
  upload(id: string): string
  repository(name: string): RepositoryPaths
}

export interface RepositoryPaths {
  readonly root: string
  readonly tags: string
  readonly manifests: string
  readonly blobs: string
  blob(digest: Digest): string
  manifest(digest: Digest): string
  tag(tag: string): string
  referrers(subject: Digest): string
  referrer(subject: Digest, referrer: Digest): string
}

export function storePaths(root: string): StorePaths {
  const blobs = join(root, 'blobs')
  const uploads = join(root, 'uploads')
  const repositories = join(root, 'repositories')
  return {
    root,
    layout: join(root, 'store.json'),
    staging: join(root, 'staging'),
    trash: join(root, 'trash'),
    uploads,
    blobs,
    repositories,
    blob: (digest) => `${blobs}/${asPath(digest)}`,
    upload: (id) => `${uploads}/${id}`,
    repository: (name) => repositoryPaths(`${repositories}/${name}`),
  }
}

function repositoryPaths(root: string): RepositoryPaths {
  const referrers = (subject: Digest) => `${root}/_referrers/${asPath(subject)}`
  return {
    root,
    tags: `${root}/_tags`,
    manifests: `${root}/_manifests`,
    blobs: `${root}/_blobs`,
    blob: (digest) => `${root}/_blobs/${asPath(digest)}`,
    manifest: (digest) => `${root}/_manifests/${asPath(digest)}`,
    tag: (tag) => `${root}/_tags/${tag}`,
    referrers,
    referrer: (subject, referrer) => `${referrers(subject)}/${referrer.replace(':', '-')}`,
  }
}

function asPath(digest: Digest): string {
  return `${algorithmOf(digest)}/${hexOf(digest)}`
}

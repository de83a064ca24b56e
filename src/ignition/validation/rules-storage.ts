/**
 * Rules for what files, directories and links have to do with each other, and with units.
 *
 * Source: coreos/ignition `config/v3_N/types/{config,storage}.go`.
 */
import type { Directory, IgnitionConfig, Link, Storage, StorageNode } from '../config.ts'
import { cleanPath } from '../go-text.ts'
import { messages } from './messages.ts'
import type { Place } from './place.ts'

/** No file, directory or link where a unit with contents goes. */
export function checkPathsOfUnits({ systemd, storage }: IgnitionConfig, place: Place): void {
  const taken = new Set<string>()
  for (const { name, contents, dropins = [] } of systemd?.units ?? []) {
    if (contents) taken.add(`/etc/systemd/system/${name}`)
    for (const dropin of dropins) if (dropin.contents) taken.add(`/etc/systemd/system/${name}.d/${dropin.name}`)
  }
  const check = (nodes: readonly StorageNode[] = [], list: string) => {
    for (const [index, { path }] of nodes.entries())
      if (taken.has(path)) place.error(messages.pathOfUnit, 'storage', list, index, 'path')
  }
  check(storage?.files, 'files')
  check(storage?.directories, 'directories')
  check(storage?.links, 'links')
}

export function checkNodes(storage: Storage, place: Place): void {
  const { files = [], directories = [], links = [] } = storage
  const linksAt = Map.groupBy(links, ({ path }) => path)
  const check = (nodes: readonly StorageNode[], list: string, message: string) => {
    for (const [index, { path }] of nodes.entries())
      for (let times = linksAbove(path, linksAt); times > 0; times -= 1) place.error(message, list, index)
  }
  check(directories, 'directories', messages.directoryBelowLink)
  check(files, 'files', messages.fileBelowLink)
  const directoryPaths = Map.groupBy(directories, ({ path }) => path)
  for (const [index, link] of links.entries()) {
    for (let times = linksAbove(link.path, linksAt); times > 0; times -= 1)
      place.error(messages.linkBelowLink, 'links', index)
    if (place.minor >= 3 && !link.target) place.error(messages.targetRequired, 'links', index, 'target')
    else if (link.hard === true) checkHardLink(link, { index, directoryPaths, place })
  }
}

/** How many links lead to a directory that `path` is in. */
function linksAbove(path: string, linksAt: ReadonlyMap<string, readonly Link[]>): number {
  let count = 0
  if (linksAt.size === 0) return count
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
    count += linksAt.get(path.slice(0, slash))?.length ?? 0
  return count
}

interface HardLinkContext {
  readonly index: number
  readonly directoryPaths: ReadonlyMap<string, readonly Directory[]>
  readonly place: Place
}

function checkHardLink(link: Link, { index, directoryPaths, place }: HardLinkContext): void {
  const target = cleanPath(link.target ?? '')
  const joined = [link.path, link.target].filter(Boolean).join('/')
  const path = target.startsWith('/') ? target : joined && cleanPath(joined)
  const times = directoryPaths.get(path)?.length ?? 0
  for (let time = 0; time < times; time += 1) place.error(messages.hardLinkToDirectory, 'links', index)
  for (const kind of ['user', 'group'] as const)
    for (const field of ['id', 'name'] as const)
      if (link[kind]?.[field] !== undefined) place.warning(messages.hardLinkWithOwner, 'links', index, kind, field)
}

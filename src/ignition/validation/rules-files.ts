/** Rules for each file, directory and link (coreos/ignition `config/v3_N/types/{node,file,directory,mode}.go`). */
import type { Directory, File, Owner, StorageNode } from '../config.ts'
import { messages } from './messages.ts'
import { pathFault } from './path-rule.ts'
import type { Place } from './place.ts'

export function checkFile(file: File, place: Place): void {
  checkNodePath(file, place)
  checkMode(file.mode, place)
  if (file.overwrite === true && file.contents?.source === undefined)
    place.error(messages.overwriteWithoutSource, 'overwrite')
}

export function checkDirectory(directory: Directory, place: Place): void {
  checkNodePath(directory, place)
  checkMode(directory.mode, place)
}

export function checkNodePath({ path }: StorageNode, place: Place): void {
  place.error(pathFault(path), 'path')
}

function checkMode(mode: number | null | undefined, place: Place): void {
  if (typeof mode !== 'number') return
  if (mode < 0 || mode > 0o7777) place.error(messages.illegalMode, 'mode')
  if (place.minor < 6 && (mode & 0o7000) !== 0) place.warning(messages.specialBits, 'mode')
}

export function checkOwner({ id, name }: Owner, place: Place): void {
  if (id !== undefined && name) place.error(messages.idAndName)
}

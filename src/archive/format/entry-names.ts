/** Names of the tar entries that hold content. */

/** A blob or manifest (image-layout "Blobs"). */
export function blobEntryName(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`
}

/** A piece of an entry that is cut. */
export function partName(name: string, part: number): string {
  return `parts/${name}/${String(part).padStart(6, '0')}`
}

/** Zeros, in the place of content that could not be had. */
export function holeName(name: string): string {
  return `holes/${name}`
}

import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type TarEntry, tarFile, writeTar } from '../src/archive/tar/ustar.ts'
import { digestOf } from '../src/oci/digest.ts'
import { mediaTypes } from '../src/oci/media-type.ts'
import { blobOf, type SampleLayer } from '../src/quickstart/sample-layer.ts'

/** A whole archive in memory. */
function makeTar(entries: Iterable<TarEntry>): Buffer {
  return Buffer.concat([...writeTar(entries)])
}

/** A small layer that holds `entries`, compressed as its media type says. */
export function makeLayer(entries: Iterable<TarEntry>, mediaType: string = mediaTypes.ociLayerGzip): SampleLayer {
  const tar = makeTar(entries)
  return { ...blobOf(compressed(tar, mediaType), mediaType), diffId: digestOf(tar) }
}

function compressed(tar: Buffer, mediaType: string): Buffer {
  if (mediaType.endsWith('gzip')) return gzipSync(tar)
  return mediaType.endsWith('zstd') ? zstdCompressSync(tar) : tar
}

/** Archives that a reader must survive: entries that would leave the root, or stand where another entry points. */
export const hostileEntries: Readonly<Record<string, readonly TarEntry[]>> = {
  'a parent path': [tarFile('../outside', 'x')],
  'a parent path inside a path': [tarFile('usr/../../outside', 'x')],
  'a parent path after a dot': [tarFile('./../outside', 'x')],
  'an absolute name': [tarFile('/etc/passwd', 'x')],
  'a symbolic link to the outside': [
    { name: 'escape', type: 'symlink', linkName: '../../etc' },
    tarFile('escape/x', 'x'),
  ],
  'a symbolic link to an absolute path': [
    { name: 'escape', type: 'symlink', linkName: '/etc' },
    tarFile('escape/x', 'x'),
  ],
  'a hard link to the outside': [{ name: 'escape', type: 'hardlink', linkName: '../../etc/passwd' }],
}

/** What is in the place of an entry, read back from the volumes. */
import { algorithmOf } from '../../oci/digest.ts'
import { PlacedHash } from './placed-hash.ts'
import type { WrittenEntry } from './written-entries.ts'
import type { WrittenVolumes } from './written-volumes.ts'

const blockBytes = 1024 * 1024
const zeros = Buffer.alloc(blockBytes)

interface Block {
  readonly bytes: Uint8Array
  readonly volume: number
  readonly position: number
}

/** Hashes the first `length` bytes of an entry; the hash goes on with those that follow. */
export async function hashPlaced(volumes: WrittenVolumes, entry: WrittenEntry, length: number): Promise<PlacedHash> {
  const hash = hashFor(entry)
  for await (const { bytes } of readPlaced(volumes, entry, length)) hash.update(bytes)
  return hash
}

/** Gives up an entry: whatever was written of it becomes zeros. */
export async function makeHole(volumes: WrittenVolumes, entry: WrittenEntry): Promise<void> {
  for await (const { bytes, volume, position } of readPlaced(volumes, entry, entry.size)) {
    const empty = zeros.subarray(0, bytes.byteLength)
    if (!empty.equals(bytes)) await volumes.writeWhole(volume, empty, position)
  }
  entry.leave()
}

export function hashFor({ digest, segments }: WrittenEntry): PlacedHash {
  return new PlacedHash(digest ? algorithmOf(digest) : 'sha256', segments)
}

/** The same buffer for every block. */
async function* readPlaced(volumes: WrittenVolumes, entry: WrittenEntry, length: number): AsyncGenerator<Block> {
  const buffer = Buffer.allocUnsafe(Math.min(blockBytes, length))
  for (const segment of entry.segments) {
    const end = Math.min(segment.length, length - segment.start)
    for (let done = 0; done < end; done += buffer.byteLength) {
      const bytes = buffer.subarray(0, Math.min(buffer.byteLength, end - done))
      const position = segment.offset + done
      await volumes.read(segment.volume, bytes, position)
      yield { bytes, volume: segment.volume, position }
    }
  }
}

/** Writes an archive in a process of its own, to be killed: `node archive-child.ts JSON`. Says each chunk that it reads. */
import { writeSync } from 'node:fs'
import { mapConcurrently } from '../src/host/concurrency.ts'
import { openWriter, pushContent, sampleContent } from './archive-writing.ts'

export interface ArchiveChildOptions {
  readonly directory: string
  readonly seed: string
  readonly sizes: readonly number[]
  readonly volumeBytes: number
  readonly chunkBytes: number
  readonly noteEveryBytes: number
  readonly flushEveryBytes: number
  readonly concurrency: number
}

const options = JSON.parse(process.argv[2] ?? '') as ArchiveChildOptions
const { directory, seed, sizes, volumeBytes, chunkBytes, concurrency, noteEveryBytes, flushEveryBytes } = options
const carried = sampleContent(sizes, seed)
const writer = await openWriter(directory, { carried, volumeBytes }, { noteEveryBytes, flushEveryBytes })
await mapConcurrently(carried, concurrency, (content) =>
  pushContent(writer, content, async function* (offset) {
    for (let at = offset; at < content.bytes.byteLength; at += chunkBytes) {
      writeSync(1, '.')
      yield content.bytes.subarray(at, at + chunkBytes)
    }
  }),
)
writeSync(1, '!')
await writer.seal([])
await writer.close()

/** The other side of hash-thread.ts: reads files as far as they are written, and hashes what it reads. */
import type { Hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { type Digest, type DigestAlgorithm, hasherFor } from '../oci/digest.ts'

/** A file whose first `size` bytes are written. */
export interface GrowingFile {
  readonly path: string
  readonly size: number
  readonly algorithm: DigestAlgorithm
}

/** `advance` and `forget` have no answer. Requests are worked off in their order. */
export type HashRequest =
  | { readonly kind: 'advance' | 'finish'; readonly file: GrowingFile }
  | { readonly kind: 'forget'; readonly path: string }

/** The digest of a finished file; without one where it could not be read. */
export interface HashAnswer {
  readonly path: string
  readonly digest: Digest | undefined
}

interface Running {
  readonly algorithm: DigestAlgorithm
  readonly hasher: Hash
  hashed: number
}

const running = new Map<string, Running>()
const buffer = Buffer.allocUnsafeSlow(256 * 1024)

parentPort?.on('message', (request: HashRequest) => {
  if (request.kind === 'forget') {
    running.delete(request.path)
    return
  }
  const { path, algorithm } = request.file
  const hasher = advance(request.file)
  if (request.kind === 'advance') return
  running.delete(path)
  parentPort?.postMessage({ path, digest: hasher && `${algorithm}:${hasher.digest('hex')}` } satisfies HashAnswer)
})

/** Undefined where the file is gone or shorter: it was cancelled or cut back, and what is known of it is worth nothing. */
function advance(file: GrowingFile): Hash | undefined {
  const { path, algorithm } = file
  const known = running.get(path)
  const state = known?.algorithm === algorithm ? known : { algorithm, hasher: hasherFor(algorithm), hashed: 0 }
  running.set(path, state)
  try {
    hashUpTo(file, state)
    return state.hasher
  } catch {
    running.delete(path)
    return undefined
  }
}

/** The file is opened each time, so that an upload that rests holds no handle. */
function hashUpTo({ path, size }: GrowingFile, state: Running): void {
  const file = openSync(path, 'r')
  try {
    while (state.hashed < size) {
      const count = readSync(file, buffer, 0, Math.min(buffer.byteLength, size - state.hashed), state.hashed)
      if (count === 0) throw new Error(`${path} ends at ${state.hashed} of ${size} bytes`)
      state.hasher.update(buffer.subarray(0, count))
      state.hashed += count
    }
  } finally {
    closeSync(file)
  }
}

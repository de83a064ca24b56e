import { sampleBytes } from '../src/quickstart/sample-bytes.ts'

/** `size` incompressible bytes, the same for the same seed. */
export function randomBytes(seed: string, size: number): Buffer {
  return Buffer.concat([...sampleBytes(seed, size)])
}

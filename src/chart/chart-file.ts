/** The bytes of a chart that is kept on this machine. */
import { createReadStream } from 'node:fs'
import type { OpenChartBlob } from './chart-artifact.ts'

export function openKept(path: string): OpenChartBlob {
  return ({ offset = 0, signal }) =>
    createReadStream(path, { start: offset, ...(signal && { signal }) }) as AsyncIterable<Uint8Array>
}

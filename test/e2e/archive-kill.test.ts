import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sampleFraction } from '../../src/quickstart/sample-bytes.ts'
import { makeArchive } from '../../testkit/archive.ts'
import type { ArchiveChildOptions } from '../../testkit/archive-child.ts'
import { filesIn, firstDifference, sampleContent } from '../../testkit/archive-writing.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

/** How often the writer is killed. CI takes a few; before a release take a hundred. */
const kills = Number(process.env['SALLYPORT_KILLS'] ?? 10)
/** Where a failure is to be repeated: the same seed kills after the same chunks. */
const seed = process.env['SALLYPORT_SEED'] ?? `${Date.now()}`

const KiB = 1024
const chunkBytes = 16 * KiB
const noteEveryBytes = 64 * KiB
const concurrency = 4
/** What may wait to be written of one blob (placed-writer.ts). */
const pendingBytes = 1024 * KiB
const manifests = Array.from({ length: 60 }, (_, index) => 3000 + index)
const sizes = [...Array.from({ length: 8 }, (_, index) => 5_000_000 - index * 300_000), ...manifests]

const childFile = fileURLToPath(new URL('../../testkit/archive-child.ts', import.meta.url))

/** Runs the writer; it is killed after so many chunks, or a moment after the last. */
async function runChild(options: ArchiveChildOptions, killAfter = Number.POSITIVE_INFINITY, momentMs = 0) {
  const child = spawn(process.execPath, [childFile, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = () => void child.kill('SIGKILL')
  let chunks = 0
  child.stdout.on('data', (said: Buffer) => {
    const isRead = said.includes('!')
    chunks += said.byteLength - Number(isRead)
    if (chunks >= killAfter) kill()
    else if (isRead && killAfter < Number.POSITIVE_INFINITY) setTimeout(kill, momentMs)
  })
  const [stderr, [status, signal]] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { status, signal, stderr, bytes: chunks * chunkBytes }
}

for (const volumeBytes of [1024 * KiB, 64 * 1024 * KiB]) {
  test(`an archive in volumes of ${volumeBytes} bytes whose writer is killed again and again is that of one which was not`, async (t) => {
    t.diagnostic(`SALLYPORT_SEED=${seed} SALLYPORT_KILLS=${kills}`)
    const directory = await tempDir(t)
    const options = { directory, seed: 'killed', sizes, volumeBytes, chunkBytes, noteEveryBytes, concurrency }
    const carried = sampleContent(sizes, 'killed')
    const total = carried.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    let killed = 0
    let read = 0
    for (let round = 0; round < kills; round += 1) {
      const fraction = (of: string) => sampleFraction(`${seed}/${volumeBytes}/${of}/${round}`)
      const killAfter = Math.ceil((fraction('chunk') * 1.5 * total) / kills / chunkBytes)
      // Most volumes are flushed when they are sealed; here they are also now and then before that.
      const flushEveryBytes = fraction('flush') < 0.5 ? 1000 * KiB : Number.MAX_SAFE_INTEGER
      const run = await runChild({ ...options, flushEveryBytes }, killAfter, fraction('moment') * 20)
      if (run.signal === 'SIGKILL') killed += 1
      else assert.equal(run.status, 0, run.stderr)
      read += run.bytes
      // Whoever ended just before the kill has finished it.
      if (run.status === 0) break
    }
    const isDone = [...(await filesIn(directory)).keys()].every((name) => name.endsWith('.tar'))
    if (!isDone) {
      const last = await runChild({ ...options, flushEveryBytes: Number.MAX_SAFE_INTEGER })
      assert.equal(last.status, 0, last.stderr)
      read += last.bytes
    }
    t.diagnostic(`${killed} kills, ${read} bytes for ${total}`)
    assert.ok(killed > 0)
    assert.equal(firstDifference(await filesIn(directory), makeArchive({ carried, volumeBytes }).files), undefined)
    const most =
      total + carried.length * chunkBytes + killed * concurrency * (noteEveryBytes + pendingBytes + chunkBytes)
    assert.ok(read <= most, `${read} bytes were read, ${most} would be all that may`)
  })
}

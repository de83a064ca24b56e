/** `opm serve`, as a catalog image starts it, and the one question that tests ask it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { freePort, listening } from './docker-registry.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'

export interface ServedCatalog {
  /** Undefined where opm ended instead of serving: its exit status and what it said are in `ended`. */
  readonly port?: number
  readonly ended?: { readonly status: number; readonly text: string }
}

/**
 * @param command of the config of an image, in which `/configs` is replaced by `directory`
 */
export async function serveCatalog(
  t: Cleanup,
  options: { readonly opm: string; readonly command: readonly string[]; readonly directory: string },
): Promise<ServedCatalog> {
  const port = await freePort()
  const own = ['--port', String(port), '--pprof-addr', '', '--termination-log', join(await tempDir(t), 'log')]
  const command = options.command.map((word) => (word === '/configs' ? options.directory : word))
  const child = spawn(options.opm, [...command, ...own], { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => lines.push(String(chunk)))
  const closed = once(child, 'close')
  t.after(async () => {
    child.kill('SIGKILL')
    await closed
  })
  const status = await Promise.race([
    closed.then(([code]) => Number(code)),
    listening(port, () => child.exitCode !== null).then(
      () => undefined,
      async () => Number((await closed)[0]),
    ),
  ])
  return status === undefined ? { port } : { ended: { status, text: lines.join('') } }
}

/**
 * The names of all packages (operator-framework/operator-registry `pkg/api/registry.proto`, `ListPackages`).
 *
 * The question has no fields; each answer is a message with one string, its field 1.
 */
export async function listServedPackages(port: number): Promise<string[]> {
  const session = connect(`http://127.0.0.1:${port}`)
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/api.Registry/ListPackages',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const trailers = once(stream, 'trailers')
    stream.end(Buffer.alloc(5))
    const answer = Buffer.concat(await Array.fromAsync(stream))
    const [{ 'grpc-status': status }] = await trailers
    if (status !== '0') throw new Error(`ListPackages: gRPC status ${status}`)
    return namesIn(answer)
  } finally {
    session.close()
  }
}

/** Each message: a flag, its length in four bytes, then tag, length and text of the one field. */
function namesIn(answer: Buffer): string[] {
  const names: string[] = []
  for (let at = 0; at < answer.byteLength; ) {
    const length = answer.readUInt32BE(at + 1)
    names.push(answer.toString('utf8', at + 7, at + 5 + length))
    at += 5 + length
  }
  return names.sort()
}

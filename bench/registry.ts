/**
 * The embedded registry against Debian's docker-registry: push and pull of many small and of a few large blobs.
 *
 *   node bench/registry.ts [--rounds 3] [--small 300] [--large-mib 256]      (--large-mib 1024 for the scale)
 *
 * Both servers are processes of their own on an empty root each round, driven by one client over plain HTTP on loopback,
 * taking turns, and the first one to go changes from round to round. Figures are medians; the ratio is what counts. Prints a section of
 * Markdown. Note what is compared: this registry flushes every blob to the disk before it answers, the other does not.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { cpus } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { mapConcurrently } from '../src/host/concurrency.ts'
import { startDockerRegistry } from '../testkit/docker-registry.ts'
import { randomBytes } from '../testkit/random-bytes.ts'
import { tempDir } from '../testkit/temp-dir.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    small: { type: 'string', default: '300' },
    'large-mib': { type: 'string', default: '256' },
  },
})
const rounds = Number(values.rounds)
const mainFile = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const pieceBytes = 1024 * 1024
const largeBytes = 16 * pieceBytes
const noise = randomBytes('bench', 16 * pieceBytes)

/** A blob that is not kept: a head of its own, and pieces of the same noise. */
interface Blob {
  readonly digest: string
  readonly size: number
  readonly pieces: readonly Uint8Array[]
}

interface Server {
  readonly address: string
  readonly stop: () => Promise<void>
}

interface Workload {
  readonly name: string
  readonly clients: number
  readonly blobs: readonly Blob[]
}

function makeBlob(name: string, size: number): Blob {
  const pieces: Uint8Array[] = [Buffer.from(name.padEnd(64).slice(0, 64))]
  for (let left = size - 64; left > 0; left -= pieceBytes) {
    const start = (pieces.length % 16) * pieceBytes
    pieces.push(noise.subarray(start, start + Math.min(left, pieceBytes)))
  }
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return { digest: `sha256:${hash.digest('hex')}`, size, pieces }
}

function workloads(): Workload[] {
  const size = Number(values['large-mib']) * pieceBytes
  return [1, 16].flatMap((clients) => [
    {
      name: 'small (1 to 64 KiB)',
      clients,
      blobs: Array.from({ length: Number(values.small) * (clients === 1 ? 1 : 3) }, (_, index) =>
        makeBlob(`small ${clients} ${index}`, 1024 * (1 + ((index * 37) % 64))),
      ),
    },
    {
      name: `large (${values['large-mib']} MiB)`,
      clients,
      blobs: Array.from({ length: clients === 1 ? 2 : 4 }, (_, index) => makeBlob(`large ${clients} ${index}`, size)),
    },
  ])
}

async function startOurs(): Promise<Server> {
  const cleanups: (() => unknown)[] = []
  const root = await tempDir({ after: (action) => void cleanups.push(action) })
  const args = [mainFile, '--json', 'registry', 'serve', '--root', root, '--listen', '127.0.0.1:0']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return {
    address: JSON.parse(line).address,
    stop: async () => {
      child.kill()
      await once(child, 'exit')
      for (const cleanup of cleanups) await cleanup()
    },
  }
}

async function startPeer(): Promise<Server> {
  const cleanups: (() => unknown)[] = []
  const registry = await startDockerRegistry({
    after: (action) => void cleanups.unshift(action as () => unknown),
    skip: () => {
      throw new Error('docker-registry is not installed: there is nothing to compare with')
    },
  })
  return {
    address: registry?.address ?? '',
    stop: async () => {
      for (const cleanup of cleanups) await cleanup()
    },
  }
}

interface Call {
  readonly agent: Agent
  readonly method: string
  readonly url: string
  readonly blob?: Blob
}

/** One request; resolves with the response after its body was read and counted. */
function call({ agent, method, url, blob }: Call): Promise<{ response: IncomingMessage; received: number }> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Length': blob?.size ?? 0, 'Content-Type': 'application/octet-stream' }
    const outgoing = request(url, { agent, method, headers }, (response) => {
      let received = 0
      response.on('data', (chunk: Buffer) => {
        received += chunk.byteLength
      })
      response.on('end', () => resolve({ response, received }))
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    void send(outgoing, blob?.pieces ?? []).catch(reject)
  })
}

async function send(outgoing: ReturnType<typeof request>, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces) if (!outgoing.write(piece)) await once(outgoing, 'drain')
  outgoing.end()
}

async function push(agent: Agent, base: string, blob: Blob): Promise<void> {
  const started = await call({ agent, method: 'POST', url: `${base}/uploads/` })
  const location = new URL(started.response.headers.location ?? '', base)
  location.searchParams.set('digest', blob.digest)
  const { response } = await call({ agent, method: 'PUT', url: location.href, blob })
  if (response.statusCode !== 201) throw new Error(`push answered ${response.statusCode}`)
}

async function pull(agent: Agent, base: string, blob: Blob): Promise<void> {
  const { response, received } = await call({ agent, method: 'GET', url: `${base}/${blob.digest}` })
  if (response.statusCode !== 200 || received !== blob.size) throw new Error(`pull answered ${response.statusCode}`)
}

/**
 * Pulls a large blob over a connection of its own, always into the same buffer: `node:http` on this side would take
 * twice the CPU of either server, and the figure would be that of the client.
 */
function pullLarge(base: string, blob: Blob): Promise<void> {
  const { hostname, port, pathname } = new URL(`${base}/${blob.digest}`)
  return new Promise((resolve, reject) => {
    let head = ''
    let received = 0
    const take = (count: number, buffer: Uint8Array) => {
      if (!head.includes('\r\n\r\n')) head += Buffer.from(buffer.subarray(0, count)).toString('latin1')
      received += count
      return true
    }
    const onread = { buffer: Buffer.allocUnsafe(256 * 1024), callback: take }
    const socket = connect({ host: hostname, port: Number(port), onread })
    socket.on('error', reject)
    socket.on('close', () => {
      const size = received - head.indexOf('\r\n\r\n') - 4
      if (head.startsWith('HTTP/1.1 200 ') && size === blob.size) return resolve()
      reject(new Error(`pull of ${blob.size} bytes answered ${head.slice(0, 12)} with ${size}`))
    })
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`)
  })
}

/** Seconds for pushing, then for pulling, everything of a workload. */
async function measure(server: Server, { clients, blobs }: Workload): Promise<{ push: number; pull: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const base = `http://${server.address}/v2/bench/repository/blobs`
  await call({ agent, method: 'GET', url: `http://${server.address}/v2/` })
  const seconds = async (action: (blob: Blob) => Promise<void>) => {
    const start = performance.now()
    await mapConcurrently(blobs, clients, action)
    return (performance.now() - start) / 1000
  }
  const result = {
    push: await seconds((blob) => push(agent, base, blob)),
    pull: await seconds((blob) => (blob.size < largeBytes ? pull(agent, base, blob) : pullLarge(base, blob))),
  }
  agent.destroy()
  return result
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN
}

function row(workload: Workload, direction: string, seconds: Record<'ours' | 'peer', number[]>): string {
  const ours = median(seconds.ours)
  const peer = median(seconds.peer)
  const amount = workload.blobs.reduce((sum, { size }) => sum + size, 0) / 1e6
  const cells = [
    `${direction} ${workload.blobs.length} ${workload.name}`,
    workload.clients,
    `${ours.toFixed(2)} s`,
    `${peer.toFixed(2)} s`,
    `${(amount / ours).toFixed(0)} MB/s`,
    `**${(ours / peer).toFixed(2)}**`,
  ]
  return `| ${cells.join(' | ')} |`
}

async function measureOnce(start: () => Promise<Server>, workload: Workload): Promise<{ push: number; pull: number }> {
  const server = await start()
  try {
    return await measure(server, workload)
  } finally {
    await server.stop()
  }
}

async function compare(workload: Workload): Promise<string[]> {
  const seconds = {
    push: { ours: [] as number[], peer: [] as number[] },
    pull: { ours: [] as number[], peer: [] as number[] },
  }
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? (['ours', 'peer'] as const) : (['peer', 'ours'] as const)
    for (const who of order) {
      const result = await measureOnce(who === 'ours' ? startOurs : startPeer, workload)
      seconds.push[who].push(result.push)
      seconds.pull[who].push(result.pull)
    }
  }
  return [row(workload, 'push', seconds.push), row(workload, 'pull', seconds.pull)]
}

const lines: string[] = []
for (const workload of workloads()) {
  const rows = await compare(workload)
  process.stderr.write(`${rows.join('\n')}\n`)
  lines.push(...rows)
}
process.stdout.write(`## Embedded registry against docker-registry

${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}; medians of ${rounds} rounds, taking turns. Below 1.00 the embedded registry is faster.

| | clients | sallyport | docker-registry | sallyport | ratio |
|---|---|---|---|---|---|
${lines.join('\n')}
`)

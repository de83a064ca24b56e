import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { peer } from './peers.ts'
import { tempDir } from './temp-dir.ts'

export interface DockerRegistryOptions {
  /** Lines of an htpasswd file. */
  readonly htpasswd?: string
  /** Paths of PEM files. */
  readonly tls?: { readonly certificate: string; readonly key: string }
}

export interface DockerRegistry {
  /** `127.0.0.1:PORT` */
  readonly address: string
  /** Where its files are. */
  readonly root: string
  readonly pid: number
}

/**
 * CNCF distribution as Debian packages it, on a free port, with an empty root; undefined after the test was marked as
 * skipped because it is not installed.
 */
export async function startDockerRegistry(
  t: Pick<TestContext, 'after' | 'skip'>,
  options: DockerRegistryOptions = {},
): Promise<DockerRegistry | undefined> {
  const program = peer(t, 'docker-registry')
  if (program === undefined) return undefined
  const root = await tempDir(t)
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const { htpasswd, tls } = options
  if (htpasswd !== undefined) await writeFile(join(root, 'htpasswd'), htpasswd, { mode: 0o600 })
  const tlsLine = tls === undefined ? '' : `, tls: {certificate: ${tls.certificate}, key: ${tls.key}}`
  const authLine = htpasswd === undefined ? '' : `auth: {htpasswd: {realm: kit, path: ${join(root, 'htpasswd')}}}\n`
  const config = `version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: ${join(root, 'data')}}, delete: {enabled: true}, maintenance: {uploadpurging: {enabled: false}}}
http: {addr: ${address}, secret: kit${tlsLine}}
${authLine}`
  await writeFile(join(root, 'config.yml'), config)
  const child = spawn(program, ['serve', join(root, 'config.yml')], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await listening(port, () => child.exitCode !== null)
  return { address, root, pid: child.pid ?? 0 }
}

/** A port of the loopback interface that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Connects until somebody answers: the program has no way to tell that it is ready. */
export async function listening(port: number, hasEnded: () => boolean): Promise<void> {
  for (;;) {
    if (hasEnded()) throw new Error('the program ended before it listened')
    const socket = connect(port, '127.0.0.1')
    const isUp = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => setTimeout(() => resolve(false), 20))
    })
    socket.destroy()
    if (isUp) return
  }
}

/**
 * A node that pulls an image, by skopeo: the code of containers/image that CRI-O has, too.
 *
 * It knows a registries.conf, credentials and a CA that are given, and nothing else of this machine.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { runStreamed } from '../../host/run-streamed.ts'
import { findProgram, type LabHost, systemEnv } from './lab-programs.ts'

export interface NodePull {
  readonly node: string
  /** As a pod names it, with a tag or a digest. */
  readonly image: string
  /** Paths of files. */
  readonly registriesConf: string
  readonly authFile?: string
  readonly caFile?: string
  /** More of the node's environment: its proxy. */
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export type PullOutcome =
  | { readonly isPulled: true }
  /** `words`: what the program said. */
  | { readonly isPulled: false; readonly words: string }

export interface NodePlace {
  readonly folder: string
  readonly command: (argv: readonly string[]) => readonly string[]
}

/** What is pulled is thrown away again. @throws KnownError LAB_UNAVAILABLE where skopeo is not installed */
export async function pullOnNode(
  host: LabHost,
  { node, image, registriesConf, authFile, caFile, env, signal }: NodePull,
  { folder, command }: NodePlace,
): Promise<PullOutcome> {
  const skopeo = await findProgram(host, 'skopeo')
  if (skopeo === undefined) {
    throw new KnownError('LAB_UNAVAILABLE', 'Nodes of the lab pull with skopeo, and it is not installed', {
      hint: 'Install the package skopeo.',
    })
  }
  const home = join(folder, node)
  const [policy, nothing, target] = [join(home, 'policy.json'), join(home, 'nothing'), join(home, 'image')]
  await mkdir(nothing, { recursive: true, mode: 0o700 })
  await writeFile(policy, '{"default":[{"type":"insecureAcceptAnything"}]}\n')
  const words = [skopeo, '--registries-conf', registriesConf, '--registries.d', nothing, '--policy', policy]
  const auth = authFile === undefined ? ['--src-no-creds'] : ['--src-authfile', authFile]
  const argv = [...words, 'copy', '--quiet', ...auth, `docker://${image}`, `dir:${target}`]
  const said: Uint8Array[] = []
  try {
    const end = await runStreamed(command(argv), {
      env: { ...nodeEnv(host, home, caFile ?? join(nothing, 'none.pem')), ...env },
      onOutput: (chunk) => said.push(chunk),
      ...(signal && { signal }),
    })
    signal?.throwIfAborted()
    const text = Buffer.concat(said).toString('utf8').trim()
    return end === 0 ? { isPulled: true } : { isPulled: false, words: text || `ended with ${end}` }
  } finally {
    await rm(target, { recursive: true, force: true })
  }
}

function nodeEnv(host: LabHost, home: string, caFile: string): Readonly<Record<string, string>> {
  return {
    ...systemEnv(host.env),
    HOME: home,
    XDG_RUNTIME_DIR: home,
    TMPDIR: home,
    // Go reads certificates of the system from this file and these folders only (crypto/x509 root_unix.go).
    SSL_CERT_FILE: caFile,
    SSL_CERT_DIR: join(home, 'nothing'),
  }
}

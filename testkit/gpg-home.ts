/** GnuPG with a home of its own, and no agent left behind. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Cleanup, tempDir } from './temp-dir.ts'

export interface GpgHome {
  /** Standard output; fails with what gpg says where it fails. */
  run(args: readonly string[], input?: string | Uint8Array): Buffer
}

export async function gpgHome(t: Cleanup, gpg: string): Promise<GpgHome> {
  const home = join(await tempDir(t), 'gnupg')
  mkdirSync(home, { mode: 0o700 })
  const env = { ...process.env, GNUPGHOME: home }
  t.after(() => execFileSync('gpgconf', ['--kill', 'all'], { env }))
  const always = ['--batch', '--quiet', '--pinentry-mode', 'loopback', '--passphrase', '']
  return {
    run: (args, input = '') => execFileSync(gpg, [...always, ...args], { env, input, stdio: ['pipe', 'pipe', 'pipe'] }),
  }
}

/** How Sallyport reads the release on the connected side: in a lab its made outside, else as the environment says. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StepContext } from '../../workflow/step.ts'
import type { ReleaseKnown } from './release-outputs.ts'

export interface ReleaseAccess {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Where signatures of the release are, and with what they are verified. */
export function trustOf({ outside }: Pick<ReleaseKnown, 'outside'>): Readonly<Record<string, string>> {
  if (outside === undefined) return {}
  return { OCP_SIGNATURE_URL: `file://${outside.signatures}`, OCP_SIGNATURE_VERIFICATION_PK: outside.releaseKey }
}

/** Gives `use` what commands need to read the release. The pull secret is a file for as long as that takes. */
export async function withReleaseAccess<Value>(
  { outside, pullSecret }: Pick<ReleaseKnown, 'outside' | 'pullSecret'>,
  context: StepContext,
  use: (access: ReleaseAccess) => Promise<Value>,
): Promise<Value> {
  const from = outside === undefined ? [] : ['--ca', outside.ca, '--registries-conf', outside.registriesConf]
  const env = trustOf({ ...(outside && { outside }) })
  if (pullSecret === undefined) return use({ words: from, env })
  const authFile = join(context.directories.state, 'pull-secret.json')
  await writeFile(authFile, await context.secret(pullSecret), { mode: 0o600 })
  try {
    return await use({ words: [...from, '--authfile', authFile], env })
  } finally {
    await rm(authFile, { force: true })
  }
}

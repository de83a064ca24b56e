/** Stage 07: install-config.yaml, checked; and the rehearsal of what was made of it, before there is a machine. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { SiteSecrets } from '../../config/site-secret-values.ts'
import { KnownError } from '../../errors/known-error.ts'
import { checkInstallConfig } from '../../install/check-install-config.ts'
import { gatherMaterial } from '../../install/install-config-material.ts'
import { type InstallConfigMaterial, renderInstallConfig } from '../../install/render-install-config.ts'
import type { Json } from '../../journal/events.ts'
import type { MirrorEntry } from '../../openshift/image-mirror-set.ts'
import { failWith } from '../../workflow/attempt.ts'
import { defineStep, type StepContext } from '../../workflow/step.ts'
import { nodeConfOf } from '../verify.ts'
import { CredentialsMade, MirrorMade } from './bastion-outputs.ts'
import { Loaded } from './mirror-outputs.ts'
import { pathAt } from './places.ts'
import { BootstrapMade, ConfigRendered, Rehearsed } from './prepare-outputs.ts'
import { ReleaseKnown } from './release-outputs.ts'
import { recordedFolder } from './site-undo.ts'
import { runSallyport, type StageParts } from './stage-parts.ts'

/** What a mirror gives to the installation; nothing of it where a site has none. */
export const MirrorSide = z.strictObject({ mirror: MirrorMade, credentials: CredentialsMade, loaded: Loaded })
export type MirrorSide = z.infer<typeof MirrorSide>

export const PrepareInput = z.strictObject({
  release: ReleaseKnown,
  side: MirrorSide.optional(),
  /** sallyport.yaml: another one is another install-config. */
  site: z.json(),
})
type PrepareInput = z.infer<typeof PrepareInput>

export function installConfigStep(parts: StageParts) {
  return defineStep({
    title: 'install-config.yaml, rendered and checked',
    version: 1,
    where: 'bastion',
    input: PrepareInput,
    output: ConfigRendered,
    expect: () => Promise.resolve({ files: ['run:work/install/install-config.yaml'] }),
    policy: { timeoutMs: 10 * 60_000 },
    async apply(input, context) {
      const { version } = input.release
      const text = renderInstallConfig(parts.site, await materialOf(parts, context, input))
      const folder = await recordedFolder(context, 'install', 'bootstrap')
      const file = join(folder, 'install-config.yaml')
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(file, text, { mode: 0o600 })
      const findings = checkInstallConfig({ file, text }, version)
      for (const { severity, summary, remedy } of findings)
        context.print(`${severity}: ${summary}${remedy ? ` (${remedy})` : ''}\n`)
      failWith(findings)
      return { file: 'run:work/install/install-config.yaml' }
    },
  })
}

async function materialOf(
  parts: StageParts,
  context: StepContext,
  { release, side }: PrepareInput,
): Promise<InstallConfigMaterial> {
  const { site, directory, openLab } = parts
  const ca = side === undefined ? release.outside?.ca : side.mirror.ca
  const source = {
    directory,
    version: release.version,
    mirrorAuthFile: side?.credentials.authFile,
    mirrorCaFile: ca === undefined ? undefined : pathAt(parts, context, ca),
    mirrorSources: side && (await mirrorSourcesOf(parts, context, side)),
  }
  const material = await gatherMaterial(site, source, await secretsOf(parts, context))
  if (openLab === undefined || material.pullSecrets.release !== undefined) return material
  return { ...material, pullSecrets: { ...material.pullSecrets, release: anyLogin } }
}

/** The outside of a lab asks nobody who they are, and the installer takes no pull secret without a login. */
const anyLogin = JSON.stringify({ auths: { 'quay.io': { auth: Buffer.from('lab:lab').toString('base64') } } })

/** Those that are here: of the others who needs them says so. */
async function secretsOf({ site }: StageParts, context: StepContext): Promise<SiteSecrets> {
  const values = new Map<string, string>()
  const missing = new Map<string, string>()
  for (const name of Object.keys(site.secrets)) {
    try {
      values.set(name, await context.secret(name))
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      missing.set(name, error.message)
    }
  }
  return { values, missing }
}

export async function mirrorSourcesOf(
  parts: StageParts,
  context: StepContext,
  { loaded, mirror }: MirrorSide,
): Promise<readonly MirrorEntry[]> {
  const { registry, reached } = mirror
  const asNamed = (location: string) => (reached === undefined ? location : location.replace(reached, registry))
  const { registries } = await nodeConfOf(pathAt(parts, context, loaded.clusterResources))
  return registries.map(({ prefix, mirrors }) => ({
    source: prefix,
    mirrors: [...new Set(mirrors.map(({ location }) => asNamed(location)))],
  }))
}

/** Everything that the host and the nodes will ask for is asked now, on the closed side; the scripts are run in a sandbox. */
export function rehearseStep(parts: StageParts) {
  return defineStep({
    title: 'the rehearsal of the bootstrap, on the closed side',
    version: 1,
    where: 'closed',
    input: z.strictObject({
      bootstrap: BootstrapMade,
      /** `NAME=ADDRESS`: where names lead that DNS here does not know. */
      via: z.array(z.string()),
    }),
    output: Rehearsed,
    policy: { timeoutMs: 60 * 60_000 },
    async apply({ bootstrap, via }, context) {
      const report = join(context.directories.artifacts, 'rehearsal.html')
      const names = via.flatMap((pair) => ['--via', pair])
      const words = ['rehearse', pathAt(parts, context, bootstrap.file), '--report', report, ...names]
      const { images, notes } = countRehearsed(await runSallyport(parts, context, { where: 'closed', words }))
      return { report, images, notes }
    },
  })
}

const Report = z.object({
  findings: z.array(z.unknown()),
  levelOne: z.object({ images: z.array(z.unknown()) }).optional(),
})

function countRehearsed(answer: Json): { readonly images: number; readonly notes: number } {
  const { findings, levelOne } = Report.parse(answer)
  return { images: levelOne?.images.length ?? 0, notes: findings.length }
}

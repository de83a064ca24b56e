/** Stage 07 of a real site: manifests and Ignition configs, by the installer of the release that was mirrored. */
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import type { Site } from '../../journal/events.ts'
import { parseReference, repositoryName } from '../../oci/reference.ts'
import { isThere } from '../../store/presence.ts'
import { defineStep, type StepContext } from '../../workflow/step.ts'
import { mirrorWords } from './mirror-steps.ts'
import { pathAt } from './places.ts'
import { BootstrapMade, ConfigRendered, InstallerTaken } from './prepare-outputs.ts'
import { MirrorSide, mirrorSourcesOf } from './prepare-steps.ts'
import { withReleaseAccess } from './release-access.ts'
import { ReleaseKnown } from './release-outputs.ts'
import { recordedFolder } from './site-undo.ts'
import { runSallyport, type StageParts } from './stage-parts.ts'

const InstallerInput = z.strictObject({ release: ReleaseKnown, side: MirrorSide.optional() })
type InstallerInput = z.infer<typeof InstallerInput>

/** Out of the mirror, so that what is not there is found now; without one, from where the release is. */
export function installerStep(parts: StageParts, where: Site) {
  return defineStep({
    title: 'openshift-install of the release, as the cluster will get it',
    version: 1,
    where,
    input: InstallerInput,
    output: InstallerTaken,
    expect: () => Promise.resolve({ files: ['run:work/installer/openshift-install'] }),
    policy: { timeoutMs: 4 * 60 * 60_000, retry: { attempts: 3, firstDelayMs: 10_000 } },
    async apply(input, context) {
      const folder = await recordedFolder(context, 'installer', 'bootstrap')
      const image = await installedImage(parts, context, input)
      await extractInstaller(parts, context, { ...input, image, folder })
      const said = await runInstaller(context, { program: join(folder, 'openshift-install'), words: ['version'] })
      const { digest = '' } = parseReference(input.release.release)
      const isTold = said.includes(digest)
      if (!isTold)
        context.print(`warning: it does not say that it installs ${image}: it is told so by its environment\n`)
      return { program: 'run:work/installer/openshift-install', image, isTold }
    },
    holds: (_, output, context) => isThere(pathAt(parts, context, InstallerTaken.parse(output).program)),
  })
}

/** By its name at the mirror, by digest. */
async function installedImage(
  parts: StageParts,
  context: StepContext,
  { release, side }: InstallerInput,
): Promise<string> {
  if (side === undefined) return release.release
  const reference = parseReference(release.release)
  const repository = repositoryName(reference)
  const sources = await mirrorSourcesOf(parts, context, side)
  const entry = sources.find(({ source }) => repository === source || repository.startsWith(`${source}/`))
  const [mirror] = entry?.mirrors ?? []
  if (entry === undefined || mirror === undefined) {
    throw new KnownError('STEP_FAILED', `The mirror has no place for ${repository}: the release was not mirrored`, {
      hint: 'Name it in the ImageSetConfiguration, under platform, and collect again.',
    })
  }
  return `${mirror}${repository.slice(entry.source.length)}@${reference.digest}`
}

async function extractInstaller(
  parts: StageParts,
  context: StepContext,
  { release, side, image, folder }: InstallerInput & { readonly image: string; readonly folder: string },
): Promise<void> {
  const words = ['release', 'extract', release.release, '--command', 'openshift-install', '--to', folder, '--force']
  if (side === undefined) {
    await withReleaseAccess(release, context, ({ words: access, env }) =>
      runSallyport(parts, context, { where: 'connected', words: [...words, ...access], env }),
    )
    return
  }
  const conf = ['--registries-conf', pathAt(parts, context, side.loaded.registriesConf)]
  const access = [...conf, ...mirrorWords(parts, context, side), '--release-image', image]
  await runSallyport(parts, context, { where: 'bastion', words: [...words, ...access] })
}

const madeFiles = ['bootstrap.ign', 'master.ign', 'worker.ign', 'metadata.json', 'auth/kubeconfig']

/** The installer eats its install-config: it gets a copy. */
export function ignitionStep(parts: StageParts) {
  return defineStep({
    title: 'manifests and Ignition configs, by openshift-install',
    version: 1,
    where: 'bastion',
    input: z.strictObject({ config: ConfigRendered, installer: InstallerTaken, side: MirrorSide.optional() }),
    output: BootstrapMade,
    expect: () => Promise.resolve({ files: madeFiles.map((name) => `run:work/install/assets/${name}`) }),
    policy: { timeoutMs: 30 * 60_000 },
    async apply({ config, installer, side }, context) {
      const assets = join(await recordedFolder(context, 'install', 'bootstrap'), 'assets')
      await clearAssets(assets, context)
      await mkdir(assets, { recursive: true, mode: 0o700 })
      await copyFile(pathAt(parts, context, config.file), join(assets, 'install-config.yaml'))
      const program = pathAt(parts, context, installer.program)
      const told = installer.isTold ? {} : { OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE: installer.image }
      const env = { ...told, ...(await cloudEnv(parts, context, join(assets, '..'))) }
      const create = (what: string) => runInstaller(context, { program, words: ['create', what, '--dir', assets], env })
      await create('manifests')
      if (side) await addManifests(parts, context, { side, assets })
      await create('ignition-configs')
      const file = join(assets, 'bootstrap.ign')
      if (!(await isThere(file))) throw new KnownError('STEP_FAILED', 'openshift-install made no bootstrap.ign')
      context.print('the certificates in these files hold 24 hours: the machines have to boot before that\n')
      return { file: 'run:work/install/assets/bootstrap.ign', assets: 'run:work/install/assets' }
    },
    holds: (_, output, context) => isThere(pathAt(parts, context, BootstrapMade.parse(output).file)),
  })
}

/** The installer looks into the account. Of the other clouds the credentials stand in install-config. */
async function cloudEnv({ site }: StageParts, context: StepContext, folder: string) {
  const name = site.platform.aws?.credentials
  if (name === undefined) return {}
  const file = join(folder, 'aws-credentials')
  await writeFile(file, `${await context.secret(name)}\n`, { mode: 0o600 })
  return { AWS_SHARED_CREDENTIALS_FILE: file }
}

/** What was made before may be the only way into a cluster that is there already: it is kept aside. */
async function clearAssets(assets: string, context: StepContext): Promise<void> {
  if (!(await isThere(join(assets, 'bootstrap.ign')))) return rm(assets, { recursive: true, force: true })
  const aside = `${assets}.before-${context.attempt}`
  await rm(aside, { recursive: true, force: true })
  await rename(assets, aside)
  context.print(`what openshift-install made before is in ${aside}\n`)
}

interface ManifestWork {
  readonly side: MirrorSide
  readonly assets: string
}

/**
 * Of the cluster resources, what the bootstrap can apply: kinds that every release knows. Mirrors by digest stand in
 * install-config. What waits for an operator (UpdateService) would keep the bootstrap from ever ending.
 */
const bootstrapKinds: readonly string[] = ['ImageTagMirrorSet', 'ConfigMap']

async function addManifests(parts: StageParts, context: StepContext, { side, assets }: ManifestWork): Promise<void> {
  const clusterResources = pathAt(parts, context, side.loaded.clusterResources)
  // Its CRD comes with the marketplace, which is a capability that can be left out.
  const taken = parts.site.cluster?.capabilities === undefined ? [...bootstrapKinds, 'OperatorHub'] : bootstrapKinds
  const later: string[] = []
  // What stands there as JSON too is the same object, which the installer takes once.
  for (const name of (await readdir(clusterResources)).filter((one) => /\.ya?ml$/.test(one)).sort()) {
    const path = join(clusterResources, name)
    const kinds = kindsIn(await readFile(path, 'utf8'))
    if (kinds.length > 0 && kinds.every((kind) => taken.includes(kind))) {
      await copyFile(path, join(assets, 'manifests', `99-sallyport-${name}`))
      context.print(`manifests/99-sallyport-${name}\n`)
    } else if (!kinds.every((kind) => kind === 'ImageDigestMirrorSet' || kind === 'ImageContentSourcePolicy')) {
      later.push(path)
    }
  }
  if (later.length > 0) context.print(`after the installation: oc apply -f ${later.join(' -f ')}\n`)
}

function kindsIn(text: string): readonly string[] {
  return [...text.matchAll(/^kind: *"?(\w+)/gm)].map(([, kind = '']) => kind)
}

interface InstallerRun {
  readonly program: string
  readonly words: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** How much of what it says is kept, in characters. */
const keptOutput = 64 * 1024

/** Nothing of this machine but PATH: its proxies are not those of the cluster. */
async function runInstaller(context: StepContext, { program, words, env = {} }: InstallerRun): Promise<string> {
  const { state } = context.directories
  context.print(`$ openshift-install ${words.join(' ')}\n`)
  let said = ''
  const end = await context.exec({
    argv: [program, ...words],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: state, LC_ALL: 'C.UTF-8', ...env },
    cwd: state,
    onOutput: (chunk) => {
      said = `${said}${Buffer.from(chunk).toString('utf8')}`.slice(-keptOutput)
    },
  })
  context.signal.throwIfAborted()
  if (end.status === 0) return said
  const why = said.split('\n').findLast((line) => /level=(?:fatal|error)|^(?:FATAL|ERROR)/.test(line))
  const reason = why?.replace(/^.*?(?:msg=|FATAL |ERROR )/, '') ?? `it ended with ${end.status ?? end.signal}`
  throw new KnownError('STEP_FAILED', `openshift-install ${words.slice(0, 2).join(' ')}: ${reason}`)
}

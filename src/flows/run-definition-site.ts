import { basename, dirname, join, resolve } from 'node:path'
import { readConfigurationText } from '../config/image-set-file.ts'
import { type LoadedSite, loadSite, type SiteConfig } from '../config/site-configuration.ts'
import { readSiteSecret, readSiteSecrets, type SecretPlace } from '../config/site-secret-values.ts'
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { isThere } from '../store/presence.ts'
import { aimedSteps } from '../workflow/aimed-steps.ts'
import type { SecretLookup } from '../workflow/secret-store.ts'
import type { DefinitionKind, OpenHost } from './run-definition.ts'
import { siteParameters } from './site-parameters.ts'
import { disconnectedWorkflow } from './stages/disconnected.ts'
import { openLabOf } from './stages/lab-of-run.ts'
import { labPreflight } from './stages/lab-preflight.ts'
import { labReleaseBytes } from './stages/lab-release.ts'
import type { StageParts } from './stages/stage-parts.ts'

/** The built-in workflow, of one site. */
export interface SiteDefinition {
  readonly kind: 'disconnected'
  /** Absolute path of `sallyport.yaml`. */
  readonly file: string
  /** What stood in it: what is gone on with where it is not there. */
  readonly text: string
}

/** @throws KnownError CONFIG_INVALID, also where there is no such file */
export async function defineSiteRun(file: string): Promise<SiteDefinition> {
  const text = await readConfigurationText(file).catch((cause: unknown) => {
    if (!(cause instanceof KnownError)) throw cause
    const hint = 'Name the file of the site with -f FILE; sallyport init writes one.'
    throw new KnownError(cause.code, cause.message, { hint, details: { file }, cause })
  })
  loadSite({ file, text })
  return { kind: 'disconnected', file, text }
}

export const siteKind: DefinitionKind<SiteDefinition> = {
  identity: ({ file }) => file,
  async open(kept, host, { isCopyWanted = false }) {
    const isSource = !isCopyWanted && (await isThere(kept.file))
    const definition = isSource ? await defineSiteRun(kept.file) : kept
    const loaded = loadSite({ file: definition.file, text: definition.text })
    const parts = partsOf(loaded.site, definition.file, host)
    const workflow = disconnectedWorkflow(parts)
    const place = { directory: dirname(definition.file), env: host.env }
    return {
      workflow,
      definition,
      from: isSource ? 'source' : 'copy',
      secrets: secretsOf(loaded.site, place),
      asksTeardown: loaded.site.teardown === 'ask',
      preflight: async (aim = {}) => {
        const lab = await labPreflight(parts, aimedSteps(workflow, aim))
        return [
          ...loaded.findings,
          ...workflow.findings,
          ...lab,
          ...(await absentFiles(loaded, place)),
          ...(await absentSecrets(loaded, place)),
        ]
      },
      parameters: (step) => siteParameters(loaded, step),
    }
  },
}

function partsOf(site: SiteConfig, file: string, { clock, log, env, self, user }: OpenHost): StageParts {
  const parts = { site, directory: dirname(file), self, clock, log, env, user }
  if (site.platform.lab === undefined) return { ...parts, openLab: undefined, labBytes: undefined }
  let bytes: number | undefined
  const labBytes = () => {
    bytes ??= labReleaseBytes()
    return bytes
  }
  return { ...parts, labBytes, openLab: (context) => openLabOf({ site, user, host: { env, clock } }, context) }
}

/** A warning: the other side may be the one that has them, and needs them. */
async function absentSecrets({ site, file: { placeOf } }: LoadedSite, place: SecretPlace): Promise<readonly Finding[]> {
  const { missing } = await readSiteSecrets(site, place)
  return [...missing].map(([name, why]) => ({
    id: 'site.secret-absent',
    severity: 'warning',
    summary: `secrets.${name} is not here: ${why}`,
    remedy: 'Put it there before the step that needs it, or run that step on the side that has it.',
    where: placeOf(['secrets', name], 'key'),
  }))
}

/** Files that the site names, and that a step would miss when it comes to it; of a lab only what its cluster is given. */
function filesOf({
  platform,
  mirror,
  cluster,
}: SiteConfig): readonly (readonly [string, string, string | undefined])[] {
  const ofMirror = platform.lab === undefined ? mirror : undefined
  return [
    ['mirror', 'imageSet', ofMirror?.imageSet],
    ['mirror', 'ca', ofMirror?.ca],
    ['cluster', 'sshPublicKey', cluster?.sshPublicKey],
    ['cluster', 'additionalTrustBundle', cluster?.additionalTrustBundle],
  ]
}

/** A warning for the same reason. */
async function absentFiles({ site, file: { placeOf } }: LoadedSite, { directory }: SecretPlace) {
  const absent = await Promise.all(
    filesOf(site).map(async ([section, field, file]): Promise<readonly Finding[]> => {
      if (file === undefined || (await isThere(resolve(directory, file)))) return []
      const missing: Finding = {
        id: 'site.file-absent',
        severity: 'warning',
        summary: `${section}.${field}: there is no ${resolve(directory, file)}`,
        remedy: 'Put it there before the step that needs it, or run that step on the side that has it.',
        where: placeOf([section, field], 'value'),
      }
      return [missing]
    }),
  )
  return absent.flat()
}

/** Secrets stand where `sallyport.yaml` says, and are read when a step asks for them. */
function secretsOf(site: SiteConfig, place: SecretPlace): SecretLookup {
  return async (name) => {
    const found = await readSiteSecret(site, name, place)
    if (found === undefined || 'value' in found) return found?.value
    throw new KnownError('SECRET_ABSENT', `The secret ${name}: ${found.why}`, { details: { secret: name } })
  }
}

/**
 * A run that came from the other side: its site is in `directory`, whose name is another one there. Where it is not, the file that
 * was exported is meant only if it is the very same: another machine may have something else at its place.
 */
export async function siteDefinitionAt(definition: SiteDefinition, directory: string): Promise<SiteDefinition> {
  const file = join(directory, basename(definition.file))
  if (await isThere(file)) return { ...definition, file }
  const isSame = (await readConfigurationText(definition.file).catch(() => undefined)) === definition.text
  return isSame ? definition : { ...definition, file }
}

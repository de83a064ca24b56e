/**
 * `sallyport.yaml`: one file says what a site is. Secrets are named in it and stand elsewhere.
 *
 * Fields that install-config has too are named as there.
 */
import { isMap, isScalar, YAMLMap } from 'yaml'
import * as z from 'zod'
import type { Finding } from '../errors/finding.ts'
import { readConfigurationText } from './image-set-file.ts'
import { always } from './image-set-rules.ts'
import { configError, InvalidConfiguration, inFileOrder } from './invalid-config.ts'
import { SitePlatform } from './site-platforms.ts'
import { checkSite, siteNotes } from './site-rules.ts'
import { inlineSecrets, isWithin } from './site-secrets.ts'
import { siteSections } from './site-sections.ts'
import { siteVariants } from './site-stages.ts'
import { siteValues } from './site-values.ts'
import { openYaml, validateYaml, type YamlFile, type YamlSource } from './yaml-document.ts'
import { pairOf } from './yaml-nodes.ts'

export const siteApiVersion = 'sallyport/v1alpha1'

export const SiteConfig = z
  .strictObject({
    apiVersion: z.literal(siteApiVersion).default(siteApiVersion).meta({ description: 'Version of the format.' }),
    kind: z.literal('Site').meta({ description: 'Kind of the file.' }),
    name: siteValues.clusterName.meta({ description: 'Name of the cluster: the first part of its DNS names.' }),
    baseDomain: siteValues.domain.meta({ description: 'Domain that the name of the cluster stands in.' }),
    variant: z.enum(siteVariants).meta({
      description:
        'disconnected: no way out, everything from the mirror; private: nothing published, mirror optional; registry-only: a filled mirror and no cluster; proxy-only: no mirror, nodes reach out through the proxy.',
    }),
    platform: SitePlatform,
    release: siteSections.release,
    mirror: siteSections.mirror.optional(),
    bastion: siteSections.bastion.optional(),
    proxy: siteSections.proxy.optional(),
    cluster: siteSections.cluster.optional(),
    secrets: siteSections.secrets,
    stages: siteSections.stages,
    teardown: z.enum(['never', 'on-success', 'always', 'ask']).default('ask').meta({
      description: 'Whether what was made is taken down at the end of a run. Default: ask.',
    }),
  })
  .superRefine(checkSite, always)
export type SiteConfig = z.infer<typeof SiteConfig>

export interface LoadedSite {
  readonly site: SiteConfig
  /** The file, to find the place of each field in. */
  readonly file: YamlFile
  /** What has no effect, or should be written in another way; severity warning or info. */
  readonly findings: readonly Finding[]
}

/** @throws InvalidConfiguration (CONFIG_INVALID) with every finding at its line and column; no secret is in any of them */
export function loadSite(source: YamlSource): LoadedSite {
  const opened = openYaml(source)
  checkKind(opened)
  const inline = inlineSecrets(opened)
  fillEmptyPlatform(opened)
  try {
    const { value, findings } = validateYaml(opened, SiteConfig, { isOwn: true })
    if (inline.length > 0) throw new InvalidConfiguration(inline.map(({ finding }) => finding))
    return { site: value, file: opened, findings: inFileOrder([...findings, ...siteNotes(value, opened)]) }
  } catch (error) {
    if (!(error instanceof InvalidConfiguration) || inline.length === 0) throw error
    // Of a place with a secret in it only that is said: other words could repeat it.
    const others = error.findings.filter((found) => !isWithin(found, inline))
    throw new InvalidConfiguration([...inline.map(({ finding }) => finding), ...others])
  }
}

/** @throws InvalidConfiguration, KnownError CONFIG_INVALID where the file cannot be read */
export async function openSite(path: string): Promise<LoadedSite> {
  return loadSite({ file: path, text: await readConfigurationText(path) })
}

function checkKind({ contents, document, placeOf }: YamlFile): void {
  if (!isMap(contents)) {
    const summary = 'a mapping of fields must stand here, beginning with kind: Site; sallyport init writes one'
    throw new InvalidConfiguration([configError('config.kind', summary, placeOf([]))])
  }
  const written = document.get('kind')
  if (written === 'Site') return
  const found = written === undefined || written === null ? 'and it is missing' : `not "${String(written)}"`
  throw new InvalidConfiguration([configError('config.kind', `kind must be Site, ${found}`, placeOf(['kind']))])
}

/** `none:` with nothing under it names a platform, as `none: {}` does. */
function fillEmptyPlatform({ contents }: YamlFile): void {
  const platform = pairOf(contents, 'platform')?.value
  for (const pair of isMap(platform) ? platform.items : []) {
    if (pair.value === null || (isScalar(pair.value) && pair.value.value === null)) pair.value = new YAMLMap()
  }
}

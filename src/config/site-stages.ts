/** The ten stages of an installation, by the names that `sallyport.yaml`, plans and journals give them. */

/** In their order; stage 01 is the first. */
export const stageNames = [
  'infrastructure',
  'bastion',
  'credentials',
  'tools',
  'mirror-registry',
  'mirror-images',
  'prepare',
  'install',
  'verify',
  'clean-up',
] as const
export type StageName = (typeof stageNames)[number]

export const siteVariants = ['disconnected', 'private', 'registry-only', 'proxy-only'] as const
export type SiteVariant = (typeof siteVariants)[number]

const withoutCluster = new Set<StageName>([
  'infrastructure',
  'bastion',
  'credentials',
  'tools',
  'prepare',
  'install',
  'clean-up',
])

/** Why a stage is no part of a variant; undefined where it is one. Of `verify`, registry-only does the part of the mirror. */
export function whyNotInVariant(
  stage: StageName,
  { variant, hasMirror }: { readonly variant: SiteVariant; readonly hasMirror: boolean },
): string | undefined {
  if (variant === 'registry-only' && withoutCluster.has(stage)) return 'variant registry-only has no cluster'
  if (hasMirror || (stage !== 'mirror-registry' && stage !== 'mirror-images')) return undefined
  return variant === 'proxy-only' ? 'variant proxy-only has no mirror' : 'the site names no mirror'
}

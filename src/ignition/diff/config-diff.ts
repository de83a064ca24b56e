/**
 * What two configs would make different of a machine.
 *
 * Compared is what they mean: a data URL or gzip, the order of lists, one entry or two that are merged make no difference, and configs
 * of specification 2.x are compared as what they would be in 3.x. Children that stand in a config are merged into it first. No
 * secret is in the result.
 */
import { KnownError } from '../../errors/known-error.ts'
import type { IgnitionConfig, Resource } from '../config.ts'
import { isDataUrl } from '../data-url.ts'
import type { ReadConfig } from '../read-config.ts'
import { refuseRemote, renderConfig } from '../render-config.ts'
import { ContentsComparison } from './compare-contents.ts'
import { nodeDifferences } from './compare-nodes.ts'
import { settingDifferences } from './compare-settings.ts'
import { accountDifferences, unitDifferences } from './compare-units.ts'
import type { Difference } from './difference.ts'

/** @throws KnownError IGNITION_INVALID for a child that is none */
export async function diffConfigs(before: ReadConfig, after: ReadConfig): Promise<readonly Difference[]> {
  const [old, own] = [await withChildren(before.config), await withChildren(after.config)]
  const comparison = new ContentsComparison()
  return [
    ...settingDifferences(old, own, [before.version, after.version]),
    ...accountDifferences(old, own),
    ...nodeDifferences(old, own, comparison),
    ...unitDifferences(old, own, comparison),
  ]
}

/** Children that are elsewhere stay what they are: a place. */
async function withChildren(config: IgnitionConfig): Promise<IgnitionConfig> {
  const { merge = [], replace } = config.ignition.config ?? {}
  const isHere = ({ source }: Resource) => isDataUrl(source ?? '')
  const here = { merge: merge.filter(isHere), ...(replace && isHere(replace) && { replace }) }
  if (here.merge.length === 0 && !here.replace) return config
  try {
    const rendered = await renderConfig({ ...config, ignition: { ...config.ignition, config: here } }, refuseRemote)
    const elsewhere = { merge: merge.filter((child) => !isHere(child)), ...(replace && !here.replace && { replace }) }
    return { ...rendered, ignition: { ...rendered.ignition, config: elsewhere } }
  } catch (error) {
    // A child of a child is elsewhere: all of them are compared as they stand.
    if (error instanceof KnownError && error.code === 'IGNITION_REMOTE') return config
    throw error
  }
}

/** The mirrors that `oc --idms-file` and `--icsp-file` go by: those of one manifest of the config, and no registries.conf. */
import { KnownError } from '../errors/known-error.ts'
import type { BootstrapConfig } from '../openshift/bootstrap/bootstrap-config.ts'
import { manifestDocument } from '../openshift/bootstrap/manifests.ts'
import { type MirrorSet, nodeRegistriesConf } from '../registries/node-conf.ts'
import { noRegistriesConf, type RegistriesConf } from '../registries/registries-conf.ts'

/** @param path as the scripts write it; undefined where they name no file */
export function mirrorsOfFile(bootstrap: BootstrapConfig, path: string | undefined): RegistriesConf {
  if (path === undefined) return noRegistriesConf
  const documents = bootstrap.manifests.filter((manifest) => manifest.path === path).map(manifestDocument)
  const sets = documents.flatMap((document) => {
    const spec = document?.['spec']
    return spec === undefined || spec === null ? [] : Object.values(spec).flatMap(mirrorSets)
  })
  try {
    return nodeRegistriesConf({ icsp: sets })
  } catch (error) {
    if (error instanceof KnownError) return noRegistriesConf
    throw error
  }
}

function mirrorSets(list: unknown): readonly MirrorSet[] {
  if (!Array.isArray(list)) return []
  return list.filter(
    (one: unknown): one is MirrorSet =>
      typeof one === 'object' && one !== null && 'source' in one && typeof one.source === 'string',
  )
}

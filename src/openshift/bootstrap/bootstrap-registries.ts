/**
 * The registries.conf of the bootstrap host, with its drop-ins: what its podman, CRI-O and ostree go by.
 *
 * The installer renders it from the install-config alone, so it says nothing of mirror sets among the manifests.
 */
import { KnownError } from '../../errors/known-error.ts'
import { parseRegistriesConf } from '../../registries/parse.ts'
import { mergeRegistriesConf, noRegistriesConf, type RegistriesConf } from '../../registries/registries-conf.ts'
import type { BootstrapFiles } from './bootstrap-file.ts'

export interface BootstrapRegistries {
  /** Without the files that do not parse. */
  readonly conf: RegistriesConf
  /** Paths, in the order they are read. */
  readonly files: readonly string[]
  /** REGISTRIES_CONF_INVALID, one a file: podman ends with it before it asks anybody. */
  readonly errors: readonly KnownError[]
}

const mainFile = '/etc/containers/registries.conf'
const dropIn = /^\/etc\/containers\/registries\.conf\.d\/[^/]+\.conf$/

export function bootstrapRegistries(files: BootstrapFiles): BootstrapRegistries {
  const errors: KnownError[] = []
  const read = (path: string, isDropIn: boolean): readonly RegistriesConf[] => {
    try {
      return [parseRegistriesConf(files.get(path)?.text ?? '', path, { isDropIn })]
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      errors.push(error)
      return []
    }
  }
  const [main = noRegistriesConf] = files.has(mainFile) ? read(mainFile, false) : []
  const dropIns = [...files.keys()].filter((path) => dropIn.test(path)).sort()
  const conf = mergeRegistriesConf(
    main,
    dropIns.flatMap((path) => read(path, true)),
  )
  return { conf, files: [...(files.has(mainFile) ? [mainFile] : []), ...dropIns], errors }
}

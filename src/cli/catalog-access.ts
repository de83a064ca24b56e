/** How commands that look into operator catalogs are told which one, and what opens it. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import { type CatalogLocation, type OpenedCatalog, openCatalog } from '../flows/open-catalog.ts'
import { directoryAt } from '../mirror/workspace.ts'
import { parseReference, type Reference } from '../oci/reference.ts'
import type { CliContext } from './context.ts'
import { type AccessOptions, openRegistries } from './registry-access.ts'

/** For `--help`. */
export const catalogHelp =
  'a catalog: HOST/PATH:TAG, oci:///DIR of an OCI layout, or a directory with its files (./configs)'

/** The catalogs that an OpenShift cluster has from the beginning (openshift/oc-mirror `internal/pkg/cli/list/operators.go`). */
export const wellKnownCatalogs: readonly string[] = [
  'redhat-operator-index',
  'certified-operator-index',
  'community-operator-index',
  'redhat-marketplace-index',
].map((name) => `registry.redhat.io/redhat/${name}`)

/** A minor version of OpenShift, as catalogs are tagged with it: `v4.18`. */
export function catalogTag(version: string): string {
  return `v${version}`
}

/**
 * @param text as the command line or a configuration names a catalog; a well-known one also by its last part
 * @param version of OpenShift, for a name without a tag
 * @throws KnownError USAGE, REFERENCE_INVALID
 */
export function catalogLocation(text: string, { version, cwd }: LocationOptions): CatalogLocation {
  if (text.startsWith('oci:')) {
    const { directory, image } = layoutAt(text.slice('oci:'.length).replace(/^\/\/(?=\/)/, ''), cwd)
    return { kind: 'layout', directory, ...(image !== undefined && { image }) }
  }
  if (isDirectory(text, cwd)) {
    const directory = directoryAt(text, cwd)
    return existsSync(join(directory, 'oci-layout')) ? { kind: 'layout', directory } : { kind: 'directory', directory }
  }
  const known = wellKnownCatalogs.find((name) => name.slice(name.lastIndexOf('/') + 1) === text.replace(/[:@].*$/, ''))
  const named = known === undefined ? text : `${known.slice(0, known.lastIndexOf('/') + 1)}${text}`
  return { kind: 'registry', reference: tagged(parseReference(named.replace(/^docker:\/\//, '')), version) }
}

interface LocationOptions {
  /** `4.18` */
  readonly version?: string | undefined
  readonly cwd: string
}

/** @throws KnownError, as `catalogLocation` and opening the catalog throw */
export async function openNamedCatalog(
  location: CatalogLocation,
  options: AccessOptions,
  context: CliContext,
): Promise<OpenedCatalog> {
  const registries = await openRegistries(options, context)
  try {
    const opened = await openCatalog(location, { source: registries.source, signal: context.signal })
    const close = async () => {
      await opened.close()
      registries.close()
    }
    return { ...opened, close }
  } catch (error) {
    registries.close()
    throw error
  }
}

function tagged(reference: Reference, version: string | undefined): Reference {
  if (reference.tag !== undefined || reference.digest !== undefined) return reference
  if (version !== undefined) return { ...reference, tag: catalogTag(version) }
  throw new KnownError('USAGE', `${reference.registry}/${reference.repository} names no tag`, {
    hint: 'Name one, such as :v4.18, or the version of OpenShift with --version 4.18.',
  })
}

function isDirectory(text: string, cwd: string): boolean {
  if (/^(?:file:\/\/|\.{0,2}\/|\.{1,2}$)/.test(text)) return true
  return statSync(directoryAt(text, cwd), { throwIfNoEntry: false })?.isDirectory() === true
}

/** `DIR` or `DIR:NAME`, as containers/image writes it (`oci/layout/oci_transport.go`). */
function layoutAt(text: string, cwd: string): { readonly directory: string; readonly image?: string } {
  const whole = directoryAt(text, cwd)
  const colon = text.lastIndexOf(':')
  if (colon < 0 || existsSync(whole)) return { directory: whole }
  return { directory: directoryAt(text.slice(0, colon), cwd), image: text.slice(colon + 1) }
}

/** What a release is made of, for people and for programs. */
import { redact } from '../../errors/redact.ts'
import { formatReference, type Reference } from '../../oci/reference.ts'
import { type VersionRun, versionRuns } from '../../openshift/version-runs.ts'
import type { BootstrapImages } from '../../release/bootstrap-images.ts'
import type { ContentsComponent, ReleaseContents, ReleaseSizes } from '../../release/release-contents.ts'
import { count, formatBytes } from './quantities.ts'
import { problemLines } from './release-problems.ts'
import { type Column, tableLines } from './table.ts'

export interface ReleaseView {
  readonly contents: ReleaseContents
  /** Absent where the images of the components were not asked for. */
  readonly sizes: ReleaseSizes | undefined
  readonly bootstrap: BootstrapImages
  /** For people: where it was read. */
  readonly origin: string
}

/** What of a release is printed. */
export interface ReleaseSelection {
  readonly what: 'everything' | 'components' | 'bootstrap'
  /** What stands beside the name of a component. */
  readonly columns: 'digests' | 'pullspecs' | 'sizes'
}

export function renderRelease(view: ReleaseView, { what, columns }: ReleaseSelection): string {
  const lines = [
    ...(what === 'everything' ? [...headLines(view), '', ...upgradeLines(view), ''] : []),
    ...componentLines(view, { what, columns }),
    ...problemLines(view.contents),
  ]
  // What a payload says reaches a terminal here.
  return redact(`${lines.join('\n')}\n`)
}

function headLines({ contents, sizes, origin }: ReleaseView): readonly string[] {
  const { version, architectures, isIndex, digest, created, metadata, versions, reference } = contents
  const name = nameOf(reference)
  const url = metadata?.more['url']
  const platforms = architectures.map((architecture) => `linux/${architecture}`).join(', ')
  return [
    `Release ${version} for ${platforms}${isIndex ? ' (one image for each)' : ''}`,
    field('name', name),
    ...(origin === name ? [] : [field('read from', origin)]),
    field('digest', digest),
    ...(created === undefined ? [] : [field('created', created)]),
    ...(typeof url === 'string' && url !== '' ? [field('errata', url)] : []),
    ...versions.map(({ name: of, version: text, displayName }) =>
      field(of, displayName === undefined ? text : `${text} (${displayName})`),
    ),
    ...(sizes ? [field('size', sizeText(contents, sizes))] : []),
    ...placeLines(contents),
  ]
}

/** By its tag, where it has one; its digest is told apart from it. */
function nameOf({ registry, repository, tag, digest }: Reference): string {
  if (tag !== undefined) return formatReference({ registry, repository, tag })
  return formatReference({ registry, repository, ...(digest !== undefined && { digest }) })
}

function sizeText({ components }: ReleaseContents, { uniqueBytes, sharedBytes, unknown }: ReleaseSizes): string {
  const least = unknown > 0 ? 'at least ' : ''
  const images = count(components.length - unknown + 1, 'image')
  return `${least}${formatBytes(uniqueBytes)} in ${images}, ${formatBytes(sharedBytes)} of it in more than one of them`
}

/** Only where components lie elsewhere than the payload says. */
function placeLines({ components }: ReleaseContents): readonly string[] {
  const places = Map.groupBy(
    components.flatMap(({ image, reference }) =>
      image && image.place !== `${reference.registry}/${reference.repository}` ? [image.place] : [],
    ),
    (place) => place,
  )
  return [...places].map(([place, all]) => field('found in', `${place}: ${count(all.length, 'component')}`))
}

function upgradeLines({ contents: { metadata, version } }: ReleaseView): readonly string[] {
  if (!metadata) return ['No release-metadata: from which releases it can be upgraded to is not known.']
  const { previous, next } = metadata
  const known =
    previous.length === 0
      ? [`No upgrade to ${version} is named in it; channels may have some.`]
      : [`Upgrades to ${version} from ${count(previous.length, 'release')}:`, ...edgeLines(previous)]
  return next.length === 0 ? known : [...known, `From ${version} to:`, ...edgeLines(next)]
}

/** A line for each minor version. */
function edgeLines(versions: readonly string[]): readonly string[] {
  return [...versionRuns(versions)].map(([minor, runs]) => `  ${minor.padEnd(5)} ${runs.map(runText).join(', ')}`)
}

function runText({ first, last }: VersionRun): string {
  return first === last ? first : `${first} to ${last}`
}

function componentLines(view: ReleaseView, { what, columns }: ReleaseSelection): readonly string[] {
  const { contents, bootstrap } = view
  const needed = new Set(bootstrap.names)
  const listed = what === 'bootstrap' ? contents.components.filter(({ name }) => needed.has(name)) : contents.components
  const title =
    what === 'bootstrap'
      ? `The bootstrap host pulls ${count(listed.length + 1, 'image')}: the release image itself and`
      : `${count(listed.length, 'component')}; * is pulled by the bootstrap host itself, as is the release image (${knownText(view)})`
  const mark = (name: string) => (needed.has(name) ? '*' : ' ')
  const rows = (columns === 'sizes' ? bySize(listed, view) : listed).map((component) => [
    `${mark(component.name)} ${component.name}`,
    ...cellsOf(component, view, columns),
  ])
  const { image } = contents
  const own = columns === 'sizes' ? [['* (release image)', String(image.layers), formatBytes(image.bytes), '']] : []
  const note = what === 'bootstrap' ? [`  (${knownText(view)})`] : []
  return [title, ...tableLines(columnsOf(view, columns), [...own, ...rows], ''), ...note]
}

function knownText({ contents: { version }, bootstrap: { knownFor } }: ReleaseView): string {
  const isOther = !version.startsWith(`${knownFor}.`)
  return `as of ${knownFor}${isOther ? `, the nearest version to ${version} that is known` : ''}`
}

function columnsOf({ sizes }: ReleaseView, columns: ReleaseSelection['columns']): readonly Column[] {
  const size: readonly Column[] = sizes ? [{ title: 'SIZE', isRight: true }] : []
  if (columns === 'pullspecs') return [{ title: '  NAME' }, { title: 'PULLSPEC' }]
  if (columns === 'sizes') {
    const more: readonly Column[] = [
      { title: 'LAYERS', isRight: true },
      { title: 'SIZE', isRight: true },
      { title: 'ITS OWN', isRight: true },
    ]
    return [{ title: '  NAME' }, ...more]
  }
  return [{ title: '  NAME' }, { title: 'DIGEST' }, ...size, { title: 'SOURCE' }]
}

function cellsOf(
  { name, reference, image, source }: ContentsComponent,
  { sizes }: ReleaseView,
  columns: ReleaseSelection['columns'],
): readonly string[] {
  if (columns === 'pullspecs') return [formatReference(reference)]
  const size = image ? formatBytes(image.bytes) : 'unknown'
  const own = sizes?.own.get(name)
  if (columns === 'sizes') return [image ? String(image.layers) : '', size, own === undefined ? '' : formatBytes(own)]
  const digest = image?.digest ?? reference.digest ?? formatReference(reference)
  const repository = source?.repository.replace(/^https?:\/\//, '') ?? ''
  const commit = source?.commit ? `@${source.commit.slice(0, 8)}` : ''
  return [shortDigest(digest), ...(sizes ? [size] : []), `${repository}${commit}`]
}

/** What a release costs most by stands first. */
function bySize(components: readonly ContentsComponent[], { sizes }: ReleaseView): readonly ContentsComponent[] {
  const own = ({ name }: ContentsComponent) => sizes?.own.get(name) ?? -1
  return components.toSorted((a, b) => own(b) - own(a))
}

/** As many digits as tell components apart. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 'sha256:'.length + 12)
}

function field(name: string, text: string): string {
  return `  ${name.padEnd(11)} ${text}`
}

export function releaseDocument({ contents, sizes, bootstrap, origin }: ReleaseView): object {
  const { reference, image, components, ...facts } = contents
  const needed = new Set(bootstrap.names)
  const { blobs, ...own } = image
  return {
    name: nameOf(reference),
    origin,
    ...facts,
    image: own,
    ...(sizes && {
      sizes: { unique: sizes.uniqueBytes, shared: sizes.sharedBytes, images: sizes.imageBytes, unknown: sizes.unknown },
    }),
    bootstrap: { knownFor: bootstrap.knownFor, components: bootstrap.names },
    components: components.map(({ name, reference: of, image: stored, ...rest }) => ({
      ...{ name, reference: formatReference(of), digest: stored?.digest ?? of.digest, ...rest },
      ...(stored && { place: stored.place, layers: stored.layers, bytes: stored.bytes }),
      ...(sizes?.own.has(name) && { ownBytes: sizes.own.get(name) }),
      isForBootstrap: needed.has(name),
    })),
  }
}

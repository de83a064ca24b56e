/** Images of a rehearsal as a table: what failed first, all of it a click away. */
import type {
  ImageAttempt,
  ImageUse,
  LevelOneReport,
  RehearsedImage,
} from '../../rehearse/level-one/level-one-report.ts'
import { breakable, type Html, html } from './html.ts'
import { count, formatBytes } from './quantities.ts'
import { foundImages } from './rehearsal.ts'

export function imagesSection({ images, disk }: Pick<LevelOneReport, 'images' | 'disk'>): Html | string {
  if (images.length === 0) return ''
  const failed = images.filter(isFailed)
  const fine = images.filter((image) => !isFailed(image))
  const need =
    disk.images === 0
      ? ''
      : html` The bootstrap host itself pulls ${count(disk.images, 'image')}, ${formatBytes(disk.compressedBytes)} in ${count(disk.blobs, 'blob')}: some ${formatBytes(disk.unpackedBytes)} on its disk.`
  return html`<section>
<h2>Images</h2>
<p>Found with config and layers: ${foundImages(images)}.${need}</p>
${failed.length > 0 ? html`<details open><summary>${count(failed.length, 'image')} not found</summary>${table(failed)}</details>` : ''}
${fine.length > 0 ? html`<details><summary>${count(fine.length, 'image')} found</summary>${table(fine)}</details>` : ''}
</section>
`
}

function isFailed({ bootstrap, nodes }: RehearsedImage): boolean {
  return bootstrap?.isPulled === false || nodes?.isPulled === false
}

const uses: Readonly<Record<ImageUse, string>> = {
  release: 'the release itself',
  script: 'scripts of the host',
  'static-pod': 'static pods of the host',
  named: 'named in the config',
  payload: 'nodes',
}

/** Grouped by where they come from, or by what keeps them away. */
function table(images: readonly RehearsedImage[]): Html {
  const groups = Map.groupBy(images, (image) => {
    const { fault, from } = decisive(image)
    return `${fault ?? ''} ${from ?? ''}`
  })
  return html`<div class="wide"><table>
<thead><tr><th>image</th><th>for</th><th>host</th><th>nodes</th><th class="number">size</th></tr></thead>
${[...groups.values()].map((all) => html`<tbody>${groupRow(all)}${all.map(row)}</tbody>`)}</table></div>`
}

/** The attempt that failed, else the one that there is. */
function decisive({ bootstrap, nodes }: RehearsedImage): Partial<ImageAttempt> {
  return [bootstrap, nodes].find((attempt) => attempt?.isPulled === false) ?? bootstrap ?? nodes ?? {}
}

function groupRow([first]: readonly RehearsedImage[]): Html | string {
  if (first === undefined) return ''
  const { isPulled, fault, from = '', message } = decisive(first)
  const why = isPulled === false ? html`<span class="error">${fault ?? message}</span> at ` : 'from '
  return html`<tr><th colspan="5">${why}<span class="mono">${breakable(from)}</span></th></tr>`
}

function row({ name, use, reference, bootstrap, nodes, sizeBytes, isOptional }: RehearsedImage): Html {
  const size = sizeBytes === undefined ? '' : formatBytes(sizeBytes)
  return html`<tr><td title="${reference}">${name}</td><td>${uses[use]}${isOptional ? ', optional' : ''}</td><td class="mark">${mark(bootstrap)}</td><td class="mark">${mark(nodes)}</td><td class="number">${size}</td></tr>
`
}

function mark(attempt: ImageAttempt | undefined): Html | string {
  if (attempt === undefined) return ''
  return attempt.isPulled ? html`<span class="good">✓</span>` : html`<span class="error">✗</span>`
}

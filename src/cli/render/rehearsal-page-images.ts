/** Images of a rehearsal as a table: what failed first, all of it a click away. */
import type {
  ImageAttempt,
  ImageUse,
  LevelOneReport,
  RehearsedImage,
} from '../../rehearse/level-one/level-one-report.ts'
import { breakable, type Html, html } from './html.ts'
import { count, formatBytes } from './quantities.ts'

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
<p>${fine.length} of ${count(images.length, 'image')} found, with config and layers.${need}</p>
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

function table(images: readonly RehearsedImage[]): Html {
  return html`<div class="wide"><table>
<thead><tr><th>image</th><th>for</th><th>host</th><th>nodes</th><th class="number">size</th><th>from</th></tr></thead>
<tbody>${images.map(row)}</tbody></table></div>`
}

function row({ name, use, reference, bootstrap, nodes, sizeBytes, isOptional }: RehearsedImage): Html {
  const from = bootstrap?.from ?? nodes?.from
  const why = [bootstrap, nodes].find((attempt) => attempt?.isPulled === false)
  const size = sizeBytes === undefined ? '' : formatBytes(sizeBytes)
  const place =
    why === undefined
      ? html`<span class="mono">${breakable(from ?? '')}</span>`
      : html`<span class="error">${why.fault ?? 'failed'}</span> <span class="mono" title="${why.message}">${breakable(why.from ?? '')}</span>`
  return html`<tr><td class="mark" title="${reference}">${name}</td><td class="mark">${uses[use]}${isOptional ? ', optional' : ''}</td><td class="mark">${mark(bootstrap)}</td><td class="mark">${mark(nodes)}</td><td class="number">${size}</td><td>${place}</td></tr>
`
}

function mark(attempt: ImageAttempt | undefined): Html | string {
  if (attempt === undefined) return ''
  return attempt.isPulled ? html`<span class="good">✓</span>` : html`<span class="error">✗</span>`
}

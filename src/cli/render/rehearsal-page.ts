/**
 * A rehearsal as one HTML file: what happened, what to do, and what that is known from.
 *
 * Nothing is loaded and nothing runs in it, so that it can be attached to a ticket and opened anywhere.
 */
import type { Finding } from '../../errors/finding.ts'
import type { RehearsalReport } from '../../rehearse/rehearsal-report.ts'
import { Html, type HtmlValue, html } from './html.ts'
import { count, formatDuration } from './quantities.ts'
import { imagesSection } from './rehearsal-page-images.ts'
import { certificatesSection, mirrorsSection, registriesSection } from './rehearsal-page-network.ts'
import { pageStyle } from './rehearsal-page-style.ts'
import { timelineSection } from './rehearsal-page-timeline.ts'

export function rehearsalPage(report: RehearsalReport, { version }: { readonly version: string }): string {
  const { verdict, file, levelOne, levelTwo, notProven, rehearsedAt } = report
  const now = Date.parse(rehearsedAt)
  const title = `${file}: the bootstrap would ${verdict.isSound ? 'come up' : 'fail'}`
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${new Html(pageStyle)}</style>
</head>
<body>
<main>
${headSection(report)}
${findingsSection(report)}
${levelTwo === undefined ? '' : timelineSection(levelTwo)}
${levelOne === undefined ? '' : [imagesSection(levelOne), registriesSection(levelOne), mirrorsSection(levelOne), certificatesSection(levelOne.certificates, now)]}
<section>
<h2>Not proven</h2>
<ul class="plain">${[...notProven, ...(levelOne?.skipped ?? [])].map((one) => html`<li>${one}</li>`)}</ul>
</section>
<footer>Written by sallyport ${version}. No password, token or private key is in this file.</footer>
</main>
</body>
</html>
`
  return page.text
}

function headSection(report: RehearsalReport): Html {
  const { verdict, file, rehearsedAt, bootstrap, levelOne, durationMs } = report
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['cluster', bootstrap?.domain],
    ['platform', bootstrap && [bootstrap.platform, bootstrap.architecture].filter(Boolean).join(', ')],
    ['release', releaseText(report)],
    ['release image', bootstrap?.releaseImage],
    ['mirrors', levelOne?.hosts.map(({ host }) => host).join(', ')],
    ['looked at', levelOne && lookedAt(levelOne)],
  ]
  const rows = facts.flatMap(([name, value]) => (value ? [html`<dt>${name}</dt><dd>${value}</dd>`] : []))
  return html`<header>
<p class="kicker">Bootstrap rehearsal of ${file}, ${rehearsedAt.slice(0, 16).replace('T', ' ')} UTC, ${formatDuration(durationMs)}</p>
<div class="verdict ${verdict.isSound ? 'sound' : 'fails'}">
<h1>${capital(verdict.headline)}</h1>
<p class="next"><b>Next:</b> ${whole(verdict.next)}</p>
</div>
<dl>${rows}</dl>
</header>
`
}

function releaseText({ bootstrap, levelOne }: RehearsalReport): string | undefined {
  const name = bootstrap?.distribution === 'okd' ? 'OKD' : 'OpenShift'
  const { release } = levelOne ?? {}
  if (release !== undefined) return `${name} ${release.version}, ${count(release.components, 'component')}`
  return bootstrap?.minor && `${name} ${bootstrap.minor}, as the config says: the release image could not be read`
}

function lookedAt({ images, checked, certificates }: NonNullable<RehearsalReport['levelOne']>): string {
  const blobs = images.reduce((sum, one) => sum + (one.blobs ?? 0), 0)
  return [
    `${count(images.length, 'image')} with ${count(blobs, 'blob')}`,
    count(checked.files, 'file'),
    count(checked.units, 'unit'),
    count(checked.scripts, 'script'),
    count(checked.manifests, 'manifest'),
    count(certificates.length, 'certificate'),
  ].join(', ')
}

function findingsSection({ findings, accepted }: RehearsalReport): Html {
  if (findings.length === 0) return html`<section><h2>Findings</h2><p class="good">None.</p></section>`
  return html`<section>
<h2>Findings</h2>
${findings.map((one) => findingArticle(one, accepted.includes(one.id)))}
</section>
`
}

const words = { error: 'error', warning: 'warning', info: 'note' } as const

function findingArticle({ id, severity, summary, evidence, remedy }: Finding, isAccepted: boolean): Html {
  return html`<article class="finding">
<header><span class="severity ${severity}">${words[severity]}${isAccepted ? ', accepted' : ''}</span> <code class="soft">${id}</code></header>
<h3>${summary}</h3>
${evidence ? html`<p class="seen"><code>${evidence}</code></p>` : ''}
${remedy ? html`<p class="remedy"><b>Next:</b> ${whole(remedy)}</p>` : ''}
</article>
`
}

/** Options of commands are not broken at their hyphens. */
function whole(text: string): readonly HtmlValue[] {
  return text
    .split(/((?<=\s)--?[a-z][\w-]*)/)
    .map((part, index) => (index % 2 === 1 ? html`<span class="whole">${part}</span>` : part))
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

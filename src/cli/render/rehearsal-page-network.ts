/** Who was asked, by which mirrors, and how long certificates live: the tables of a rehearsal. */
import type {
  ConfigCertificate,
  LevelOneReport,
  MirrorEntry,
  RehearsedHost,
} from '../../rehearse/level-one/level-one-report.ts'
import { breakable, type Html, html } from './html.ts'
import { formatDuration } from './quantities.ts'

export function registriesSection({ hosts, names }: Pick<LevelOneReport, 'hosts' | 'names'>): Html {
  const rows = hosts.map(
    (
      host,
    ) => html`<tr><td class="mono mark">${host.host}</td><td class="mono mark">${host.addresses.join(', ')}</td><td>${answer(host)}</td><td>${identity(host)}</td><td class="number">${clockText(host)}</td></tr>
`,
  )
  const nameRows = names.map(
    ({
      name,
      addresses,
    }) => html`<tr><td class="mono mark">${name}</td><td class="mono mark">${addresses.join(', ')}</td><td>${addresses.length === 0 ? html`<span class="warning">no address</span>` : 'resolved'}</td><td></td><td></td></tr>
`,
  )
  return html`<section>
<h2>Registries and names</h2>
<div class="wide"><table><thead><tr><th>name</th><th>address</th><th>answer</th><th>certificate</th><th class="number">clock</th></tr></thead>
<tbody>${rows}${nameRows}</tbody></table></div>
</section>
`
}

function answer({ status, message, proxy }: RehearsedHost): Html {
  const way = proxy === undefined ? '' : ` through ${proxy}`
  if (message !== undefined) return html`<span class="error">${message}${way}</span>`
  return html`<span class="good">${status === 401 ? 'asks for credentials' : 'open to everybody'}</span>${way}`
}

function identity({ certificate }: RehearsedHost): Html | string {
  if (certificate === undefined) return ''
  const { subject, issuer, notAfter, names } = certificate
  return html`${names.join(', ') || subject}<br><span class="soft">issued by ${issuer}, until ${day(notAfter)}</span>`
}

function clockText({ skewMs }: RehearsedHost): string {
  if (skewMs === undefined) return ''
  // The header has whole seconds.
  if (Math.abs(skewMs) < 2000) return 'the same'
  const apart = Math.round(Math.abs(skewMs) / 60_000) * 60_000
  return `${skewMs < 0 ? '−' : '+'}${formatDuration(apart === 0 ? Math.abs(skewMs) : apart)}`
}

export function mirrorsSection({ mirrors }: Pick<LevelOneReport, 'mirrors'>): Html {
  const { bootstrap, nodes, differences } = mirrors
  const sources = [...new Set([...bootstrap, ...(nodes ?? [])].map(({ source }) => source))]
  const rows = sources.map((source) => {
    const sides = [bootstrap, nodes ?? []].map((entries) => entries.find((one) => one.source === source))
    const isDifferent = differences.some((one) => one.source === source)
    const mark = isDifferent ? html`<span class="warning">differ</span>` : html`<span class="soft">alike</span>`
    return html`<tr><td class="mono">${breakable(source)}</td>${sides.map((entry) => html`<td class="mono">${entryText(entry)}</td>`)}<td class="mark">${mark}</td></tr>
`
  })
  const refused =
    nodes === undefined ? html`<p class="error">The machine config operator refuses the mirrors of the nodes.</p>` : ''
  const body = html`<div class="wide"><table><thead><tr><th>source</th><th>bootstrap host</th><th>nodes</th><th></th></tr></thead><tbody>${rows}</tbody></table></div>`
  return html`<section>
<h2>Bootstrap host and nodes</h2>
${refused}${sources.length === 0 ? html`<p class="soft">Neither has a mirror.</p>` : body}
</section>
`
}

function entryText(entry: MirrorEntry | undefined): Html | string {
  if (entry === undefined) return html`<span class="soft">none</span>`
  const lines = entry.mirrors.map(({ location, insecure, for: by }) => {
    const notes = [insecure && 'insecure', by !== 'all' && by].filter(Boolean).join(', ')
    return html`${breakable(location)} <span class="soft">${notes}</span><br>`
  })
  return html`${lines}${entry.isBlocked ? html`<span class="soft">source blocked</span>` : ''}`
}

interface Period {
  readonly notBefore: string
  readonly notAfter: string
}

export function certificatesSection(certificates: readonly ConfigCertificate[], now: number): Html | string {
  if (certificates.length === 0) return ''
  const short = certificates.filter(({ isShortLived }) => isShortLived)
  const others = certificates.filter(({ isShortLived }) => !isShortLived)
  const [first] = short
  const lead =
    first === undefined
      ? ''
      : html`<p>${life(first, now)} ${short.length} certificates of 24 hours: the config can be used ${untilText(first, now)}.</p>`
  return html`<section>
<h2>Certificates</h2>
${lead}
<details><summary>all ${certificates.length}, the first to end first</summary>
<div class="wide"><table><thead><tr><th>certificate</th><th>in</th><th>until</th><th>left</th></tr></thead>
<tbody>${[...short, ...others].map((one) => certificateRow(one, now))}</tbody></table></div></details>
</section>
`
}

function certificateRow(certificate: ConfigCertificate, now: number): Html {
  const { subject, at, notAfter } = certificate
  return html`<tr><td>${subject}</td><td class="mono">${at.file}</td><td class="mark">${minute(notAfter)}</td><td class="mark">${life(certificate, now)} ${leftText(certificate, now)}</td></tr>
`
}

function untilText(period: Period, now: number): Html {
  const isOver = Date.parse(period.notAfter) <= now
  return isOver
    ? html`<span class="error">no more: they ended ${minute(period.notAfter)} UTC</span>`
    : html`until <b>${minute(period.notAfter)} UTC</b>, ${leftText(period, now)} from the rehearsal on`
}

/** How much of its life is left, drawn. */
function life({ notBefore, notAfter }: Period, now: number): Html {
  const [from, to] = [Date.parse(notBefore), Date.parse(notAfter)]
  const left = Math.max(0, Math.min(1, (to - now) / (to - from)))
  const look = left === 0 ? 'over' : left < 0.25 ? 'short' : ''
  const width = left === 0 ? 100 : Math.round(left * 100)
  return html`<span class="life ${look}"><i style="width:${width}%"></i></span>`
}

function leftText({ notAfter }: Period, now: number): string {
  const left = Date.parse(notAfter) - now
  if (left <= 0) return 'over'
  const days = Math.floor(left / (24 * 60 * 60 * 1000))
  if (days > 730) return `${Math.floor(days / 365)} years`
  return days >= 2 ? `${days} days` : formatDuration(left)
}

function day(time: string): string {
  return time.slice(0, 10)
}

/** `2026-11-22 13:36` */
function minute(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}

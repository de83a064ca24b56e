/** The boot, drawn: units in the order in which they were started, with their stages, and where it ends. */
import type { LevelTwoReport, RehearsedUnit, UnitOutcome } from '../../rehearse/level-two/level-two-report.ts'
import { type Html, html } from './html.ts'
import { formatDuration } from './quantities.ts'
import { lastWords, outcomeTexts } from './rehearsal.ts'

export function timelineSection(report: LevelTwoReport): Html {
  const { unavailable, units, unknownPrograms } = report
  if (unavailable !== undefined)
    return html`<section><h2>Boot</h2><p class="soft">The scripts were not run: ${unavailable}</p></section>`
  const unknown =
    unknownPrograms.length === 0 ? '' : html`<p class="soft">Taken as successful: ${unknownPrograms.join(', ')}</p>`
  return html`<section>
<h2>Boot</h2>
<p class="soft">The scripts of the config, run in a sandbox. Stages are those of their own service records.</p>
<ol class="rail">${units.map(unitItem)}</ol>
${unknown}
</section>
`
}

const looks: Readonly<Record<UnitOutcome, string>> = {
  succeeded: 'done',
  running: 'done',
  'condition-failed': 'idle',
  'not-started': 'idle',
  failed: 'broken',
  looping: 'broken',
  'timed-out': 'broken',
}

function unitItem(unit: RehearsedUnit): Html {
  const { name, outcome, durationMs, because, stage } = unit
  const look = looks[outcome]
  const said = [outcomeTexts[outcome], stage && `at ${stage}`, because && `for want of ${because}`]
    .filter(Boolean)
    .join(' ')
  const time = durationMs > 0 && look !== 'idle' ? formatDuration(durationMs) : ''
  const journal = look === 'broken' ? html`<pre>${lastWords(unit).join('\n')}</pre>` : ''
  const tone = look === 'broken' ? 'error' : 'soft'
  return html`<li class="${look}"><div class="unit"><b>${name}</b> <span class="${tone}">${said}</span> <span class="soft">${time}</span></div>
${stageList(unit)}${journal}</li>
`
}

function stageList({ stagesDone, stage }: RehearsedUnit): Html | string {
  const done = [...new Set(stagesDone)].map((name) => html`<li>${name}</li>`)
  const whole = stage === undefined ? done : [...done, html`<li class="broken">${stage}</li>`]
  return whole.length === 0 ? '' : html`<ul class="stages">${whole}</ul>`
}

/** What must hold between the fields of Helm charts, beyond the form of each. */
import type * as z from 'zod'
import { entriesOf, fieldOf, textOf } from './loose-values.ts'

type Context = z.RefinementCtx

/** A registry does not list its charts; and what is below a repository is no file of this machine. */
export function checkRepository(repository: unknown, context: Context): void {
  const url = textOf(repository, 'url')
  const charts = entriesOf(repository, 'charts')
  if (url?.startsWith('oci://') && charts.length === 0) {
    const message = `${url} is a registry, which does not tell its charts; name them with charts`
    context.addIssue({ code: 'custom', path: ['url'], message })
  }
  for (const [index, chart] of charts.entries()) checkValues(chart, context, ['charts', index])
}

export function checkLocalChart(chart: unknown, context: Context): void {
  checkValues(chart, context, [])
  const name = textOf(chart, 'name')
  if (textOf(chart, 'path') !== undefined || name === undefined) return
  const message = `chart "${name}" has no path; write path: and the file or directory that it is in`
  context.addIssue({ code: 'custom', path: ['name'], message })
}

function checkValues(chart: unknown, context: Context, path: (string | number)[]): void {
  if (fieldOf(chart, 'includeDefaults') !== false || entriesOf(chart, 'values').length > 0) return
  const message =
    'includeDefaults: false leaves nothing to render, because there are no values files; give values, or take it out'
  context.addIssue({ code: 'custom', path: [...path, 'includeDefaults'], message })
}

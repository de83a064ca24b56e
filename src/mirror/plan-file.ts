import type { MirrorPlan } from './plan.ts'

/**
 * A plan as JSON, an image, a blob or a manifest a line: to be read, compared and kept in Git. Given in pieces, because the
 * plan of ten thousand images is many megabytes.
 */
export function* planLines(plan: MirrorPlan): Generator<string> {
  const { version, target, totals } = plan
  yield `{"version":${version},"target":${JSON.stringify(target)},\n"totals":${JSON.stringify(totals)}`
  for (const part of ['images', 'blobs', 'manifests'] as const) {
    yield `,\n"${part}":[`
    let separator = '\n'
    for (const entry of plan[part]) {
      yield `${separator}${JSON.stringify(entry)}`
      separator = ',\n'
    }
    yield '\n]'
  }
  yield '\n}\n'
}

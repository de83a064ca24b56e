import { formatDuration } from './quantities.ts'
import { statusWord } from './run-show.ts'
import { countDone, type RunView } from './run-view.ts'
import { tableLines } from './table.ts'

export interface UnreadableRun {
  readonly run: string
  readonly problem: string
}

export interface RunList {
  readonly directory: string
  readonly runs: readonly RunView[]
  readonly unreadable: readonly UnreadableRun[]
}

export function renderRuns({ directory, runs, unreadable }: RunList, now: number): string {
  if (runs.length + unreadable.length === 0) return `no run in ${directory}; sallyport run WORKFLOW begins one\n`
  const rows = runs.map((run) => [
    run.run,
    run.workflow,
    statusWord(run.status),
    countDone(run.steps),
    run.undo.length === 0 ? '' : String(run.undo.length),
    `${formatDuration(now - run.lastAt)} ago`,
    current(run),
  ])
  const columns = [
    { title: 'run' },
    { title: 'workflow' },
    { title: 'state' },
    { title: 'done', isRight: true },
    { title: 'to take away', isRight: true },
    { title: 'last sign' },
    { title: 'at' },
  ]
  const lines = runs.length > 0 ? tableLines(columns, rows, '') : []
  return `${[...lines, ...unreadable.map(({ run, problem }) => `${run}: cannot be read: ${problem}`)].join('\n')}\n`
}

/** The step that it is at. */
function current({ failed, steps, status }: RunView): string {
  const running = steps.find((step) => step.status === 'running')
  return running?.step ?? (status === 'succeeded' ? '' : (failed ?? ''))
}

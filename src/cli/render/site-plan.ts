/** The plan of a site on one screen: a line a step, each value once, with who decided it. */
import type { RunParameter } from '../../flows/run-definition.ts'
import { formatBytes, formatDuration } from './quantities.ts'
import type { PlanStepView } from './run-plan.ts'

const marks: Readonly<Record<PlanStepView['doing'], string>> = {
  run: 'run',
  perhaps: 'perhaps',
  keep: 'keep',
  skip: 'skip',
  elsewhere: 'elsewhere',
  leave: '-',
}

const columns = 118

/** @param run undefined for a new one */
export function sitePlanLines(steps: readonly PlanStepView[], run: string | undefined): readonly string[] {
  const [doings, sides, ids] = [
    steps.map(({ doing }) => marks[doing]),
    steps.map(({ where = '' }) => where),
    steps.map(({ step }) => step),
  ].map((column) => Math.max(...column.map((text) => text.length), 0))
  const lines = steps.flatMap((step) => {
    const { doing, where = '', step: id } = step
    const start = [marks[doing].padEnd(doings ?? 0), where.padEnd(sides ?? 0), id.padEnd(ids ?? 0)].join('  ')
    const below = doing === 'run' || doing === 'elsewhere' ? belowOf(step) : []
    return [`  ${start}  ${factsOf(step)}`, ...below.map((line) => `  ${' '.repeat(start.length)}    ${line}`)]
  })
  const [writesToRun, writesHere] = ['run:', 'site:'].map((base) => {
    return steps.some(({ expected }) => expected?.files?.some((file) => file.startsWith(base)))
  })
  const legend = [
    ...(writesToRun ? [`RUN is the directory of the run${run === undefined ? '' : `, ${run}`}`] : []),
    ...(writesHere ? [`${writesToRun ? 'other ' : ''}paths are beside sallyport.yaml`] : []),
  ]
  return [...lines, ...(legend.length > 0 ? ['', `  ${legend.join('; ')}`] : []), ...valueLines(steps)]
}

function factsOf({ title, why, doing, usualMs, expected }: PlanStepView): string {
  const { bytes, diskBytes } = expected ?? {}
  // Said by the mark, or by the column of the side.
  const isUsual = doing === 'elsewhere' || doing === 'keep' || (doing === 'run' && why === 'it has not run yet')
  return [
    title,
    ...(isUsual ? [] : [why]),
    ...(usualMs === undefined || usualMs < 1000 || doing !== 'run' ? [] : [`usually ${formatDuration(usualMs)}`]),
    ...(bytes === undefined ? [] : [`${formatBytes(bytes)} to move`]),
    ...(diskBytes === undefined ? [] : [`${formatBytes(diskBytes)} of disk`]),
  ].join('; ')
}

function belowOf({ expected }: PlanStepView): readonly string[] {
  const { files = [], notes = [] } = expected ?? {}
  return [...(files.length > 0 ? [`writes ${places(files).join(', ')}`] : []), ...notes]
}

/** Files of one directory are told together: `tools/oc, openshift-install`. */
function places(files: readonly string[]): readonly string[] {
  let before = ''
  return files.map((file) => {
    const path = file.replace(/^run:/, 'RUN/').replace(/^site:/, '')
    const directory = path.slice(0, path.lastIndexOf('/') + 1)
    const isSame = directory !== '' && directory === before
    before = directory
    return isSame ? path.slice(directory.length) : path
  })
}

/** Of the steps that would be run, on whichever side. */
function valueLines(steps: readonly PlanStepView[]): readonly string[] {
  const wanted = steps.filter(({ doing }) => doing === 'run' || doing === 'perhaps' || doing === 'elsewhere')
  const values = new Map(wanted.flatMap(({ parameters }) => parameters.map((each) => [each.name, each] as const)))
  if (values.size === 0) return []
  const lines = ['']
  for (const value of values.values()) {
    const text = shown(value)
    const last = lines.at(-1) ?? ''
    if (last === '' || last.length + text.length > columns) lines.push(`    ${text}`)
    else lines[lines.length - 1] = `${last}   ${text}`
  }
  return [
    '',
    '  values, and the lines of sallyport.yaml that give them (--verbose: which step goes by which)',
    ...lines.slice(1),
  ]
}

function shown({ name, value, by }: RunParameter): string {
  return `${name}=${value ?? ''} (${by.replace(/^\S+ (?=line \d+$)/, '')})`
}

/**
 * A shell script as far as one has to know it to see what it asks for: commands one by one with the line they begin at, the
 * conditions around them, and the function they are in.
 *
 * No shell: quoting is followed within a line, expansion is not. Comments are gone, continued lines are put together.
 */

export interface ShellCommand {
  readonly text: string
  /** Of the script, from 1. */
  readonly line: number
  /** What has to hold for it to run, outermost first; loops hold no condition. */
  readonly conditions: readonly ShellCondition[]
  /** The function that it is in the body of. */
  readonly functionName?: string
}

export interface ShellCondition {
  /** As the script has it: `[ "$BOOTSTRAP_INPLACE" = true ]`, or `none)` of a `case`. */
  readonly text: string
  /** True in an arm of `else`: `text` does not hold. */
  readonly isNegated: boolean
}

interface Block {
  readonly kind: 'if' | 'case' | 'loop' | 'function'
  readonly name?: string
  conditions: readonly ShellCondition[]
}

export function shellCommands(script: string): readonly ShellCommand[] {
  const blocks: Block[] = []
  const commands: ShellCommand[] = []
  for (const { text, line } of logicalLines(script)) {
    for (const segment of segmentsOf(text)) {
      const command = enter(blocks, segment)
      if (command === undefined || command === '') continue
      const functionName = blocks.findLast(({ kind }) => kind === 'function')?.name
      const conditions = blocks.flatMap((block) => block.conditions)
      commands.push({ text: command, line, conditions, ...(functionName !== undefined && { functionName }) })
    }
  }
  return commands
}

/** Follows the words that open and close blocks; what is left of the segment is a command. */
function enter(blocks: Block[], segment: string): string | undefined {
  const opened = /^(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*(?:\{\s*(.*))?$/s.exec(segment)
  const named = /^function\s+([A-Za-z_][\w-]*)\s*\{\s*(.*)$/s.exec(segment)
  const [, name, body = ''] = opened ?? named ?? []
  if (name !== undefined) {
    blocks.push({ kind: 'function', name, conditions: [] })
    return enter(blocks, body.trim())
  }
  const [, word = '', rest = ''] = /^([a-z]+|[{}])(?:\s+(.*))?$/s.exec(segment) ?? []
  const top = blocks.at(-1)
  switch (word) {
    case 'if':
      blocks.push({ kind: 'if', conditions: [{ text: rest, isNegated: false }] })
      // What stands in the condition runs, whatever it gives.
      return undefined
    case 'elif':
      if (top?.kind === 'if') top.conditions = [...negated(top.conditions), { text: rest, isNegated: false }]
      return undefined
    case 'else':
      if (top?.kind === 'if') top.conditions = negated(top.conditions)
      return enter(blocks, rest)
    case 'then':
    case 'do':
    case '{':
      return enter(blocks, rest)
    case 'case':
      blocks.push({ kind: 'case', conditions: [{ text: rest.replace(/\s+in\b.*$/s, ''), isNegated: false }] })
      return undefined
    case 'for':
    case 'while':
    case 'until':
    case 'select':
      blocks.push({ kind: 'loop', conditions: [] })
      return segment
    case 'fi':
    case 'esac':
    case 'done':
    case '}':
      blocks.pop()
      return undefined
    default:
      return segment
  }
}

function negated(conditions: readonly ShellCondition[]): readonly ShellCondition[] {
  return conditions.map(({ text }) => ({ text, isNegated: true }))
}

interface LogicalLine {
  readonly text: string
  readonly line: number
}

function logicalLines(script: string): readonly LogicalLine[] {
  const lines: LogicalLine[] = []
  let heredoc: { readonly end: string; readonly isLiteral: boolean } | undefined
  let open: LogicalLine | undefined
  for (const [index, raw] of script.split('\n').entries()) {
    if (heredoc !== undefined) {
      if (raw.trim() === heredoc.end) heredoc = undefined
      // In a heredoc without quotes the shell still runs $(…).
      else if (!heredoc.isLiteral && raw.includes('$(')) lines.push({ text: raw, line: index + 1 })
      continue
    }
    const text = withoutComment(raw)
    const whole: LogicalLine =
      open === undefined ? { text, line: index + 1 } : { text: `${open.text} ${text.trim()}`, line: open.line }
    if (/(?:^|[^\\])(?:\\\\)*\\$/.test(whole.text)) {
      open = { ...whole, text: whole.text.slice(0, -1).trimEnd() }
      continue
    }
    open = undefined
    const [, quote = '', end] = /<<-?\s*(["']?)([A-Za-z_]\w*)\1/.exec(whole.text) ?? []
    if (end !== undefined && !whole.text.includes('<<<')) heredoc = { end, isLiteral: quote !== '' }
    lines.push(whole)
  }
  return open === undefined ? lines : [...lines, open]
}

function withoutComment(line: string): string {
  if (!line.includes('#')) return line
  let quote = ''
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? ''
    if (character === '\\') at += 1
    else if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === '#' && (at === 0 || /[\s;]/.test(line[at - 1] ?? ''))) return line.slice(0, at)
  }
  return line
}

/** Split at `;`, where that is neither quoted nor within parentheses. */
function segmentsOf(text: string): readonly string[] {
  const parts: string[] = []
  let [start, depth, quote] = [0, 0, '']
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? ''
    if (character === '\\') at += 1
    else if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === '(') depth += 1
    else if (character === ')') depth = Math.max(0, depth - 1)
    else if (character === ';' && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, text.slice(start)].map((part) => part.trim()).filter((part) => part !== '')
}

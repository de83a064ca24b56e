/**
 * How a patched config becomes again what it was.
 *
 * Every step names its place by what stands there (the file with this path, the unit with this name), not by position, so
 * that an undo still finds its place after other patches; and it knows what the patch left there, so that it never takes
 * away what somebody else wrote since.
 */
import { createHash } from 'node:crypto'
import { type Finding, finding } from '../../errors/finding.ts'
import { type JsonPath, nodeAt, withoutValue, withValue } from '../json/json-edit.ts'
import { type JsonNode, type JsonText, parseJsonText, plainValue, printJson, printNode } from '../json/json-text.ts'

export interface UndoStep {
  readonly at: JsonPath
  /** The JSON that stood there, as it was written; absent where nothing did. */
  readonly was?: string
  /** `sha256-HEX` of what the patch left there, or `nothing`: anything else there now is not undone. */
  readonly left?: string
  /** For the containers that were made on the way: only once nothing else is in them. */
  readonly onlyIfEmpty?: true
}

export interface Undone {
  readonly text: string
  /** Turns the undoing back. */
  readonly undo: readonly UndoStep[]
  readonly findings: readonly Finding[]
}

/** Changes a document and keeps how each change is undone. */
export class DocumentEditor {
  #document: JsonText
  #undo: readonly UndoStep[] = []

  constructor(document: JsonText) {
    this.#document = document
  }

  get text(): string {
    return printJson(this.#document)
  }

  /** In the order in which they have to be carried out. */
  get undo(): readonly UndoStep[] {
    return this.#undo
  }

  nodeAt(path: JsonPath): JsonNode | undefined {
    return nodeAt(this.#document.root, path)
  }

  /** Records what `edit` does to the value at `at`, and to what is around it; it must not touch anything else. */
  change(at: JsonPath, edit: (document: JsonText) => JsonText): void {
    const before = this.nodeAt(at)
    const containers = at.map((_, length) => at.slice(0, length)).filter((path) => isMissing(this.nodeAt(path)))
    const made = containers.map((path) => stepOf(path, this.nodeAt(path), { onlyIfEmpty: true as const }))
    this.#document = edit(this.#document)
    const after = this.nodeAt(at)
    if (written(before) === written(after)) return
    this.#undo = [stepOf(at, before, { left: hashOf(after) }), ...made.toReversed(), ...this.#undo]
  }
}

/**
 * Carries an undo out. A step whose place was changed since is told as an error, and is not carried out.
 *
 * @throws KnownError IGNITION_INVALID where the text, or a step, is not JSON
 */
export function applyUndo(text: string, fileName: string, steps: readonly UndoStep[]): Undone {
  const editor = new DocumentEditor(parseJsonText(text, fileName))
  const findings = steps.flatMap((step) => undoStep(editor, step) ?? [])
  return { text: editor.text, undo: editor.undo, findings }
}

function undoStep(editor: DocumentEditor, { at, was, left, onlyIfEmpty }: UndoStep): Finding | undefined {
  const current = editor.nodeAt(at)
  if (onlyIfEmpty === true && (current === undefined || !isMissing(current))) return undefined
  if (written(current) === was) return undefined
  if (onlyIfEmpty !== true && hashOf(current) !== left) return changedSince(at)
  const previous = was === undefined ? undefined : parseJsonText(was, 'undo').root
  editor.change(at, (document) =>
    previous === undefined ? withoutValue(document, at) : withValue(document, at, previous),
  )
  return undefined
}

function changedSince(at: JsonPath): Finding {
  const place = placeName(at)
  return finding({
    id: 'ignition.undo-changed',
    severity: 'error',
    summary: `${place} is not what the patch left there: it was changed since, and undoing would lose that`,
    remedy: 'Undo the later change first, or edit the config by hand; nothing was written.',
  })
}

/** `storage.files[/etc/hosts]`. */
export function placeName(at: JsonPath): string {
  return at
    .map((step, index) => (typeof step === 'string' ? `${index === 0 ? '' : '.'}${step}` : `[${step.is}]`))
    .join('')
}

function stepOf(at: JsonPath, before: JsonNode | undefined, rest: Pick<UndoStep, 'left' | 'onlyIfEmpty'>): UndoStep {
  const was = written(before)
  return { at, ...(was !== undefined && { was }), ...rest }
}

/** Absent, `null`, or a container with nothing in it: what Go writes for a list that has no entry. */
function isMissing(node: JsonNode | undefined): boolean {
  if (node === undefined) return true
  return node.kind === 'scalar' ? node.raw === 'null' : node.entries.length === 0
}

function written(node: JsonNode | undefined): string | undefined {
  return node === undefined ? undefined : printNode(node)
}

/** The same for every way to write the same value. */
function hashOf(node: JsonNode | undefined): string {
  if (node === undefined) return 'nothing'
  return `sha256-${createHash('sha256')
    .update(canonical(plainValue(node)))
    .digest('hex')}`
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}

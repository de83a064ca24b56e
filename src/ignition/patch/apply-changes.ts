/** Writes what a patch comes to into the text of a config; what is not touched stays as it is, byte by byte. */
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { File, IgnitionConfig, Unit } from '../config.ts'
import { type JsonPath, type JsonStep, withoutValue, withValue } from '../json/json-edit.ts'
import { parseJsonText, plainValue } from '../json/json-text.ts'
import { readIgnitionConfig } from '../read-config.ts'
import { entryContents, type FieldChange, fileEntryChanges, newFileEntry } from './file-entry.ts'
import { hostsPath, lostNames } from './hosts-file.ts'
import { hasKernelArguments } from './kernel-arguments.ts'
import type { KernelArgumentsPatch, PatchChanges, PatchedFile, PatchedUnit } from './patch.ts'
import { patchConflicts } from './patch-conflicts.ts'
import { isSecret } from './secret-contents.ts'
import { lostTrust } from './trust-anchors.ts'
import { DocumentEditor, type UndoStep } from './undo.ts'

/** What happened to one file, unit, drop-in or argument; of an undo, to a place of the config. */
export interface PatchEffect {
  readonly kind: 'file' | 'unit' | 'drop-in' | 'kernel argument' | 'place'
  readonly name: string
  readonly effect: 'added' | 'replaced' | 'removed' | 'unchanged'
}

export interface PatchedConfig {
  readonly text: string
  readonly undo: readonly UndoStep[]
  readonly effects: readonly PatchEffect[]
  /** What of the undo is secret: paths of files that were replaced. */
  readonly secrets: readonly string[]
  /** With an error among them the text must not be used. */
  readonly findings: readonly Finding[]
}

interface Context {
  readonly editor: DocumentEditor
  readonly effects: PatchEffect[]
  readonly secrets: string[]
  readonly findings: Finding[]
}

/**
 * Doing it twice changes nothing more.
 *
 * @param fileName names the config in errors
 * @throws KnownError IGNITION_INVALID where the text is no config of specification 3.x, or what is to be changed is broken
 */
export function applyChanges(text: string, fileName: string, changes: PatchChanges): PatchedConfig {
  const { config, version } = openForPatching(text, fileName)
  const findings = [...patchConflicts(config, changes)]
  const context: Context = {
    editor: new DocumentEditor(parseJsonText(text, fileName)),
    effects: [],
    secrets: [],
    findings,
  }
  for (const file of changes.files) writeFileEntry(context, file)
  for (const unit of changes.units) writeUnit(context, unit)
  if (changes.kernelArguments && hasKernelArguments(version)) writeArguments(context, changes.kernelArguments)
  const { editor, effects, secrets } = context
  return { text: editor.text, undo: editor.undo, effects, secrets, findings }
}

/** @throws KnownError IGNITION_INVALID */
export function openForPatching(
  text: string,
  fileName: string,
): { readonly config: IgnitionConfig; readonly version: string } {
  const read = readIgnitionConfig(text, fileName)
  if (read.version.startsWith('3.')) return read
  throw new KnownError('IGNITION_INVALID', `${fileName}: Ignition ${read.version} can be read, and not changed`, {
    details: { file: fileName, version: read.version },
    hint: 'Specification 2.x is what openshift-install 4.5 and before wrote. Make the config anew with a newer one.',
  })
}

function writeFileEntry(context: Context, file: PatchedFile): void {
  const { editor, secrets, findings } = context
  const at: JsonPath = ['storage', 'files', { by: 'path', is: file.path }]
  const node = editor.nodeAt(at)
  if (node === undefined) {
    editor.change(at, (document) => withValue(document, at, { plain: newFileEntry(file) }))
    context.effects.push({ kind: 'file', name: file.path, effect: 'added' })
    return
  }
  const entry = plainValue(node) as File
  const before = entryContents(entry)
  const needed = fileEntryChanges(entry, file)
  changeFields(editor, at, needed)
  context.effects.push({ kind: 'file', name: file.path, effect: needed.length > 0 ? 'replaced' : 'unchanged' })
  if (needed.length === 0) return
  if (isSecret(file.path, before)) secrets.push(file.path)
  if (before !== undefined) findings.push(...lossesOf(file, before))
  findings.push(...widerMode(file, entry.mode ?? 0o644))
}

/** A patch that says no mode makes a private file readable, which hardly anybody means. */
function widerMode({ path, mode, part }: PatchedFile, before: number): readonly Finding[] {
  if (part !== 'files' || (mode & ~before) === 0) return []
  const octal = (bits: number) => `0${bits.toString(8).padStart(3, '0')}`
  return [
    finding({
      id: 'ignition.patch-mode-wider',
      severity: 'warning',
      summary: `${path} had mode ${octal(before)}, and gets ${octal(mode)}`,
      remedy: `Where that is not meant, write mode: "${octal(before)}" in the patch.`,
    }),
  ]
}

function lossesOf(file: PatchedFile, before: Uint8Array): readonly Finding[] {
  if (file.part === 'trust') return [lostTrust(file, before) ?? []].flat()
  const lost = file.path === hostsPath ? lostNames(before, file.contents) : []
  if (lost.length === 0) return []
  return [
    finding({
      id: 'ignition.patch-hosts-lost',
      severity: 'warning',
      summary: `${hostsPath} of the config had names that the patch does not have: ${lost.join(', ')}`,
      remedy: 'Add them to hosts in the patch: the file is written whole.',
    }),
  ]
}

function writeUnit(context: Context, { dropins, ...unit }: PatchedUnit): void {
  const { editor, secrets } = context
  const at: JsonPath = ['systemd', 'units', { by: 'name', is: unit.name }]
  const node = editor.nodeAt(at)
  if (node === undefined) {
    const made = { ...unit, ...(dropins.length > 0 && { dropins }) }
    editor.change(at, (document) => withValue(document, at, { plain: made }))
    if (hasFields(unit)) context.effects.push({ kind: 'unit', name: unit.name, effect: 'added' })
    for (const { name } of dropins)
      context.effects.push({ kind: 'drop-in', name: `${unit.name}.d/${name}`, effect: 'added' })
    return
  }
  const entry = plainValue(node) as Unit
  const fields = (['contents', 'enabled', 'mask'] as const).filter(
    (field) => unit[field] !== undefined && unit[field] !== entry[field],
  )
  // Each by itself, so that another patch of the same unit can be undone without this one.
  for (const field of fields) changeFields(editor, [...at, field], [{ at: [], value: unit[field] }])
  if (fields.includes('contents') && isSecret(unit.name, Buffer.from(entry.contents ?? ''))) secrets.push(unit.name)
  if (hasFields(unit))
    context.effects.push({ kind: 'unit', name: unit.name, effect: fields.length > 0 ? 'replaced' : 'unchanged' })
  for (const dropin of dropins) writeDropin(context, { unit: entry, at, dropin })
}

interface UnitDropin {
  readonly unit: Unit
  /** Of the unit. */
  readonly at: JsonPath
  readonly dropin: PatchedUnit['dropins'][number]
}

function writeDropin(context: Context, { unit, at: unitAt, dropin }: UnitDropin): void {
  const at: JsonPath = [...unitAt, 'dropins', { by: 'name', is: dropin.name }]
  const before = unit.dropins?.findLast(({ name }) => name === dropin.name)
  const name = `${unit.name}.d/${dropin.name}`
  if (before === undefined) context.editor.change(at, (document) => withValue(document, at, { plain: dropin }))
  else if (before.contents !== dropin.contents)
    changeFields(context.editor, at, [{ at: ['contents'], value: dropin.contents }])
  const effect = before === undefined ? 'added' : before.contents === dropin.contents ? 'unchanged' : 'replaced'
  if (effect === 'replaced' && isSecret(name, Buffer.from(before?.contents ?? ''))) context.secrets.push(name)
  context.effects.push({ kind: 'drop-in', name, effect })
}

function writeArguments(context: Context, wanted: KernelArgumentsPatch): void {
  for (const field of ['shouldExist', 'shouldNotExist'] as const) {
    const at = ['kernelArguments', field]
    const node = context.editor.nodeAt(at)
    const before = node === undefined ? [] : ((plainValue(node) ?? []) as readonly string[])
    const added = wanted[field].filter((argument) => !before.includes(argument))
    for (const argument of wanted[field])
      context.effects.push({
        kind: 'kernel argument',
        name: argument,
        effect: added.includes(argument) ? 'added' : 'unchanged',
      })
    if (added.length === 0) continue
    context.editor.change(at, (document) => withValue(document, at, { plain: [...before, ...added] }))
  }
}

function changeFields(editor: DocumentEditor, at: JsonPath, changes: readonly FieldChange[]): void {
  if (changes.length === 0) return
  editor.change(at, (document) =>
    changes.reduce((changed, { at: field, value }) => {
      const path: readonly JsonStep[] = [...at, ...field]
      return value === undefined ? withoutValue(changed, path) : withValue(changed, path, { plain: value })
    }, document),
  )
}

function hasFields({ contents, enabled, mask }: Omit<PatchedUnit, 'dropins'>): boolean {
  return contents !== undefined || enabled !== undefined || mask !== undefined
}

/**
 * The images that the scripts of one bootstrap config will ask for, read from those scripts.
 *
 * `image_for NAME` runs the release image with `image NAME`, which prints the reference that the release has under that
 * name; so do other functions whose body does the same. There is no list of names by version here: installers are
 * patched, and people edit configs.
 *
 * Source: openshift/installer `data/data/bootstrap/files/usr/local/bin/{release-image,bootkube,node-image-pull}.sh.template`.
 */
import { KnownError } from '../../errors/known-error.ts'
import { parseReference, type Reference } from '../../oci/reference.ts'
import type { BootstrapFile, BootstrapFiles, Evidence } from './bootstrap-file.ts'
import type { BootstrapUnit } from './bootstrap-units.ts'
import { releaseImages } from './release-image.ts'
import { type ShellCommand, shellCommands } from './shell-lines.ts'
import { ShellValues } from './shell-values.ts'

export interface ScriptImage {
  /** As the release names it: `etcd`, `rhel-coreos`. */
  readonly name: string
  /** True where every script that asks goes on without it, or asks only under a condition that this file does not decide. */
  readonly isOptional: boolean
  /** Conditions around the questions, as the scripts have them; empty where it is asked in every case. */
  readonly conditions: readonly string[]
  readonly evidence: readonly Evidence[]
}

export interface LiteralImage {
  readonly reference: Reference
  readonly text: string
  readonly evidence: readonly Evidence[]
}

export interface ScriptImages {
  /** In the order in which files and lines name them. */
  readonly images: readonly ScriptImage[]
  /** Images that scripts, units and quadlets name themselves, other than the release image. */
  readonly literals: readonly LiteralImage[]
  /** Questions whose name cannot be read from the script. */
  readonly unresolved: readonly { readonly text: string; readonly at: Evidence }[]
}

interface Question {
  readonly name: string
  readonly isOptional: boolean
  readonly conditions: readonly string[]
  readonly at: Evidence
}

export function scriptImages(config: {
  readonly files: BootstrapFiles
  readonly units: readonly BootstrapUnit[]
}): ScriptImages {
  const scripts = [...config.files.values()].filter(isScript)
  const speaking = scripts.filter(({ text }) => speaksOfImages.test(text))
  const askers = askingFunctions(speaking.flatMap(({ text }) => shellCommands(text)))
  const callsAsker = ({ text }: BootstrapFile) => [...askers].some((name) => text.includes(name))
  const read = scripts.filter((file) => speaking.includes(file) || callsAsker(file))
  const commands = new Map(read.map((file) => [file.path, shellCommands(file.text)]))
  const unresolved: ScriptImages['unresolved'][number][] = []
  const questions = [...commands].flatMap(([file, own]) => questionsOf(file, own, { askers, unresolved }))
  return {
    images: [...Map.groupBy(questions, ({ name }) => name)].map(([name, asked]) => ({
      name,
      isOptional: asked.every(({ isOptional }) => isOptional),
      conditions: asked.some(({ conditions }) => conditions.length === 0)
        ? []
        : [...new Set(asked.flatMap(({ conditions }) => conditions))],
      evidence: asked.map(({ at }) => at),
    })),
    literals: literalImages(config, commands),
    unresolved,
  }
}

/** To read a script line by line takes time that the others need not cost. */
const speaksOfImages = /\b(?:image_for|podman|skopeo|crictl)\b|docker:\/\/|@sha256:|IMAGE=|Image=/

function isScript({ path, text }: BootstrapFile): boolean {
  return /^#!.*\b(?:ba|da|k)?sh\b/.test(text) || path.endsWith('.sh')
}

const question = /\bpodman\s+run\b[^|;]*?\simage\s+("[^"]*"|'[^']*'|[^\s);|"']+)/

/** `image_for`, and every function that asks the release image for its first argument. */
function askingFunctions(commands: readonly ShellCommand[]): ReadonlySet<string> {
  const names = commands.flatMap(({ text, functionName }) => {
    const argument = question.exec(text)?.[1]
    return functionName !== undefined && /^"?\$\{?1\}?"?$/.test(argument ?? '') ? [functionName] : []
  })
  return new Set(['image_for', ...names])
}

interface Reading {
  readonly askers: ReadonlySet<string>
  readonly unresolved: { readonly text: string; readonly at: Evidence }[]
}

function questionsOf(file: string, commands: readonly ShellCommand[], reading: Reading): readonly Question[] {
  const values = new ShellValues()
  const asking = new RegExp(
    `(?:^|[\\s($\`"!=])(?:${[...reading.askers].join('|')})\\s+("[^"]*"|'[^']*'|[^\\s);|"']+)`,
    'g',
  )
  return commands.flatMap((command) => {
    const decisions = command.conditions.map((condition) => values.decide(condition))
    if (decisions.includes(false)) return []
    const open = command.conditions.filter((_, index) => decisions[index] === undefined)
    values.learn(command.text, open.length === 0)
    if (command.functionName !== undefined && reading.askers.has(command.functionName)) return []
    const words = [...command.text.matchAll(asking), ...command.text.matchAll(new RegExp(question, 'g'))]
    return words.flatMap(({ 1: word = '', index }) => {
      const at = { file, line: command.line }
      const value = values.resolve(word)
      if (value === undefined || value.texts.some((name) => !/^[a-z0-9][a-z0-9._-]*$/.test(name))) {
        reading.unresolved.push({ text: word, at })
        return []
      }
      const conditions = open.map(({ text, isNegated }) => (isNegated ? `not ${text}` : text))
      const isOptional = value.isChoice || conditions.length > 0 || hasWayOut(command.text, index)
      return value.texts.map((name): Question => ({ name, isOptional, conditions, at }))
    })
  })
}

/** `$(image_for X || echo none)`, `[ … ] && X=$(image_for Y)`. */
function hasWayOut(command: string, index: number): boolean {
  return /\|\|/.test(command.slice(index)) || /&&/.test(command.slice(0, index))
}

const imageWord = String.raw`((?:localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+|\[[0-9a-fA-F:]+\]|[A-Za-z0-9-]+(?=:\d))(?::\d+)?(?:/[a-z0-9._-]+)+(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?)`
const literalPlaces = [
  new RegExp(`(?<![\\w./:-])${imageWord}(?<=@sha256:[0-9a-f]{64})`, 'g'),
  new RegExp(`docker://${imageWord}`, 'g'),
  new RegExp(`\\b(?:podman|skopeo|crictl)\\s(?:[^|;&]*?\\s)["']?${imageWord}`, 'g'),
  new RegExp(`(?:^|\\s|_)(?:IMAGE|Image)=["']?${imageWord}`, 'g'),
]

function literalImages(
  { files, units }: { readonly files: BootstrapFiles; readonly units: readonly BootstrapUnit[] },
  commands: ReadonlyMap<string, readonly ShellCommand[]>,
): readonly LiteralImage[] {
  const releases = new Set(releaseImages(files).map(({ text }) => text))
  const found = new Map<string, LiteralImage & { readonly evidence: Evidence[] }>()
  const look = (text: string, at: Evidence) => {
    const words = new Set(literalPlaces.flatMap((place) => [...text.matchAll(place)].map(({ 1: word = '' }) => word)))
    for (const word of words) {
      const reference = referenceOf(word)
      if (reference === undefined || releases.has(word)) continue
      const known = found.get(word) ?? { reference, text: word, evidence: [] }
      if (!known.evidence.some(({ file, line }) => file === at.file && line === at.line)) known.evidence.push(at)
      found.set(word, known)
    }
  }
  for (const [file, own] of commands) for (const { text, line } of own) look(text, { file, line })
  const quadlets = [...files.values()].filter(({ path }) => /\.(?:container|image|kube)$/.test(path))
  const texts = [...quadlets, ...units.flatMap((unit) => [unit, ...unit.dropIns])]
  for (const { path, text = '' } of texts)
    for (const [index, line] of text.split('\n').entries())
      if (!/^\s*[#;]/.test(line)) look(line, { file: path, line: index + 1 })
  return [...found.values()]
}

function referenceOf(text: string): Reference | undefined {
  try {
    return parseReference(text)
  } catch (error) {
    if (error instanceof KnownError) return undefined
    throw error
  }
}

/**
 * Reads how an Ignition config is to be patched, with the files that the patch names: relative to the patch file, or to the
 * directory of the command where a flag names them.
 */
import { basename, dirname, extname, resolve } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import { parsedJson } from '../errors/parsed-json.ts'
import type { FilePatch, IgnitionPatch, RegistriesDropIn, TrustAnchor, UnitPatch } from '../ignition/patch/patch.ts'
import type { UndoStep } from '../ignition/patch/undo.ts'
import { IgnitionPatchFile, IgnitionUndoFile, undoKind } from './ignition-patch-schema.ts'
import { parseYaml, readBytesFile, readTextFile } from './yaml-document.ts'

/** What is asked for in one place. */
export interface PatchSource {
  readonly document: IgnitionPatchFile
  /** What the paths in it are relative to. */
  readonly directory: string
}

export type PatchFileContent =
  | { readonly kind: 'patch'; readonly source: PatchSource }
  | { readonly kind: 'undo'; readonly steps: readonly UndoStep[] }

/** @throws KnownError FILE_UNREADABLE, CONFIG_INVALID with file, line and column */
export async function loadPatchFile(path: string): Promise<PatchFileContent> {
  const text = await readTextFile(path)
  const undo = asUndo(text, path)
  if (undo !== undefined) return { kind: 'undo', steps: undo }
  const document = parseYaml({ file: path, text }, IgnitionPatchFile)
  const name = document.name ?? slug(basename(path, extname(path)))
  return { kind: 'patch', source: { document: { ...document, name }, directory: dirname(path) } }
}

/** The file that `loadPatchFile` reads again. */
export function renderUndo(steps: readonly UndoStep[]): string {
  return `${JSON.stringify({ kind: undoKind, version: 1, steps }, null, 2)}\n`
}

/** Puts what several places ask for together, and reads the files that they name. */
export async function resolvePatch(sources: readonly PatchSource[]): Promise<IgnitionPatch> {
  const parts = await Promise.all(sources.map(readSource))
  const all = <T>(list: (part: IgnitionPatch) => readonly T[] | undefined) => parts.flatMap((part) => list(part) ?? [])
  const servers = all((part) => part.chrony?.servers)
  const proxies = parts.flatMap(({ proxy }) => proxy ?? [])
  const [shouldExist, shouldNotExist] = (['shouldExist', 'shouldNotExist'] as const).map((field) =>
    all((part) => part.kernelArguments?.[field]),
  )
  const hasArguments = parts.some(({ kernelArguments }) => kernelArguments !== undefined)
  return {
    name: parts.findLast(({ name }) => name !== '')?.name ?? 'patch',
    trust: all((part) => part.trust),
    hosts: all((part) => part.hosts),
    ...(servers.length > 0 && { chrony: { servers } }),
    registries: all((part) => part.registries),
    units: all((part) => part.units),
    dropins: all((part) => part.dropins),
    files: all((part) => part.files),
    ...(proxies.length > 0 && { proxy: Object.assign({}, ...proxies) }),
    ...(hasArguments && {
      kernelArguments: { shouldExist: shouldExist ?? [], shouldNotExist: shouldNotExist ?? [] },
    }),
  }
}

async function readSource({ document, directory }: PatchSource): Promise<IgnitionPatch> {
  const read = new NamedFiles(directory)
  const { chrony, hosts, proxy, kernelArguments } = document
  return {
    name: document.name ?? '',
    trust: await Promise.all((document.trust ?? []).map((one) => trustAnchor(one, read))),
    hosts: Object.entries(hosts ?? {}).map(([name, address]) => ({ name, address })),
    ...(chrony && { chrony }),
    registries: await Promise.all((document.registries ?? []).map((one) => registriesDropIn(one, read))),
    units: await Promise.all((document.units ?? []).map((one) => unitPatch(one, read))),
    dropins: await Promise.all(
      (document.dropins ?? []).map(async ({ unit, name, ...from }) => ({
        unit,
        name,
        contents: await read.text(from),
      })),
    ),
    files: await Promise.all((document.files ?? []).map((one) => filePatch(one, read))),
    ...(proxy && { proxy: withoutAbsent(proxy) }),
    ...(kernelArguments && { kernelArguments }),
  }
}

interface NamedContents {
  readonly contents?: string | undefined
  readonly file?: string | undefined
}

class NamedFiles {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async bytes({ contents, file }: NamedContents): Promise<Buffer> {
    if (contents !== undefined || file === undefined) return Buffer.from(contents ?? '')
    return readBytesFile(resolve(this.#directory, file))
  }

  async text(from: NamedContents): Promise<string> {
    return (await this.bytes(from)).toString('utf8')
  }
}

type Entry<Field extends keyof IgnitionPatchFile> =
  NonNullable<IgnitionPatchFile[Field]> extends (infer Item)[] ? Item : never

async function trustAnchor(one: Entry<'trust'>, read: NamedFiles): Promise<TrustAnchor> {
  const { file, name } = typeof one === 'string' ? { file: one, name: undefined } : one
  return { name: fileStem(name ?? file, ['.pem', '.crt', '.cer']), pem: await read.text({ file }) }
}

/** Drop-ins are read in the order of their names: one without a number gets 50. */
async function registriesDropIn(one: Entry<'registries'>, read: NamedFiles): Promise<RegistriesDropIn> {
  const { name, ...from } = typeof one === 'string' ? { name: undefined, file: one } : one
  const stem = fileStem(name ?? from.file ?? 'sallyport', ['.conf'])
  return { fileName: `${/^\d/.test(stem) ? stem : `50-${stem}`}.conf`, text: await read.text(from) }
}

async function unitPatch({ name, enabled, mask, ...from }: Entry<'units'>, read: NamedFiles): Promise<UnitPatch> {
  const hasContents = from.contents !== undefined || from.file !== undefined
  return withoutAbsent({ name, contents: hasContents ? await read.text(from) : undefined, enabled, mask })
}

async function filePatch({ mode, path, user, group, ...from }: Entry<'files'>, read: NamedFiles): Promise<FilePatch> {
  const bits = mode === undefined ? undefined : Number.parseInt(mode, 8)
  return withoutAbsent({ path, mode: bits, contents: await read.bytes(from), user, group })
}

type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

function withoutAbsent<T extends object>(value: T): Present<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Present<T>
}

/** A name for a file on the host, out of a path on this machine. */
function fileStem(path: string, endings: readonly string[]): string {
  const name = basename(path)
  const ending = endings.find((one) => name.toLowerCase().endsWith(one))
  const stem = ending === undefined ? name : name.slice(0, -ending.length)
  return stem.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '') || 'sallyport'
}

function slug(text: string): string {
  return (
    text
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'patch'
  )
}

/** Undefined where the text is something else than an undo. */
function asUndo(text: string, path: string): readonly UndoStep[] | undefined {
  // A patch in YAML may begin with a brace as well.
  const value = text.trimStart().startsWith('{') ? parsedJson(text) : undefined
  if (typeof value !== 'object' || value === null || !('kind' in value) || value.kind !== undoKind) return undefined
  const result = IgnitionUndoFile.safeParse(value)
  if (result.success) return result.data.steps.map((step) => withoutAbsent(step) as UndoStep)
  const why = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
  throw new KnownError('CONFIG_INVALID', `${path}: no undo that can be carried out: ${why}`, {
    details: { file: path },
    hint: 'Use the undo as sallyport ignition patch wrote it: it is not to be edited.',
  })
}

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { scanTar, type TarScanEntry } from '../../archive/tar/tar-scan.ts'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import { diskError } from '../../store/disk.ts'
import { isTaken, isThere } from '../../store/presence.ts'
import { writeStaged } from '../../store/staged-write.ts'
import { openJournal } from '../../workflow/journal-file.ts'
import { type RunDirectory, runDirectory } from '../../workflow/run-directory.ts'
import { openSecretStore } from '../../workflow/secret-store.ts'
import {
  invalidRunFile,
  manifestSum,
  parseManifest,
  type RunFileEntry,
  type RunManifest,
  runFileNames,
} from './run-file.ts'
import { openSecrets } from './sealed-secrets.ts'

export interface ImportOptions {
  readonly clock: Clock
  /** Directory of all runs. */
  readonly runs: string
  /** As the other side printed it: `sha256:…`. */
  readonly digest?: string
  readonly passphrase?: string
  /** Values of secrets that did not travel. */
  readonly secrets?: Readonly<Record<string, string>>
}

export interface ImportedRun {
  readonly directory: RunDirectory
  readonly workflow: string
  readonly from: string
  readonly digest: string
  readonly files: number
  /** Whether steps belong to a side of the gap. */
  readonly hasSides: boolean
  /** Names of secrets that the run made, and that nobody gave here. */
  readonly missingSecrets: readonly string[]
}

const chunkBytes = 1024 * 1024
const maxManifestBytes = 64 * 1024 * 1024

/**
 * Takes a run out of its file. Nothing of it is to be seen before every byte is proven.
 *
 * @throws KnownError RUN_FILE_INVALID, JOURNAL_NEWER, USAGE for a secret that the run has not, RUN_EXISTS, DISK_FULL, FILE_UNREADABLE
 */
export async function importRun(file: string, options: ImportOptions): Promise<ImportedRun> {
  const digest = await digestOf(file)
  if (options.digest !== undefined && options.digest !== digest) {
    throw invalidRunFile(file, `its digest is ${digest}, and ${options.digest} was expected`)
  }
  const { manifest, places } = await readContents(file)
  refuseUnknownSecrets(manifest, Object.keys(options.secrets ?? {}))
  const target = runDirectory(options.runs, manifest.run)
  if (await isTaken(target.root)) {
    throw new KnownError('RUN_EXISTS', `Run ${manifest.run} is in ${options.runs} already`, {
      details: { run: manifest.run, runs: options.runs },
    })
  }
  const staged = runDirectory(options.runs, `.${manifest.run}.new`)
  await rm(staged.root, { recursive: true, force: true })
  await mkdir(staged.root, { recursive: true, mode: 0o700 })
  try {
    await unpack(file, { manifest, places, staged })
    const missingSecrets = await keepSecrets({ manifest, staged, options })
    const hasSides = await noteImport(staged, { manifest, file, digest, clock: options.clock })
    await rename(staged.root, target.root)
    const { workflow, host: from, entries } = manifest
    return { directory: target, workflow, from, digest, files: entries.length, hasSides, missingSecrets }
  } catch (error) {
    await rm(staged.root, { recursive: true, force: true })
    if (hasSystemCode(error, 'EEXIST', 'EISDIR', 'ERR_FS_EISDIR', 'ENOTDIR', 'ENAMETOOLONG')) {
      throw invalidRunFile(file, `what it lists cannot be in one directory: ${error.message.split(',')[0]}`)
    }
    throw diskError(error, staged.root)
  }
}

/** A name that is misspelled would be kept, and the step that wants the secret would fail for it later. */
function refuseUnknownSecrets({ run, secrets }: RunManifest, given: readonly string[]): void {
  const unknown = given.find((name) => !secrets.includes(name))
  if (unknown === undefined) return
  const made = secrets.length === 0 ? 'none' : secrets.map((name) => `"${name}"`).join(', ')
  throw new KnownError('USAGE', `--secret "${unknown}" names no secret of run ${run}, which made ${made}`)
}

interface Contents {
  readonly manifest: RunManifest
  readonly places: ReadonlyMap<string, Pick<TarScanEntry, 'offset' | 'size'>>
}

/** What the file lists must be what is in it, neither more nor less. */
async function readContents(file: string): Promise<Contents> {
  const places = new Map<string, Pick<TarScanEntry, 'offset' | 'size'>>()
  const heads = new Map<string, Buffer>()
  const flaw = await scanTar(file, {
    visit: ({ name, kind, size, offset, head }) => {
      if (kind !== 'file') throw invalidRunFile(file, `${JSON.stringify(name)} is no regular file`)
      if (places.has(name) || heads.has(name)) throw invalidRunFile(file, `${JSON.stringify(name)} is in it twice`)
      if (name !== runFileNames.manifest && name !== runFileNames.manifestSum) places.set(name, { offset, size })
      else if (size > maxManifestBytes) throw invalidRunFile(file, 'its list of contents is too long')
      // What `head` gives is overwritten by what is read next.
      else heads.set(name, Buffer.from(head(size)))
    },
  }).catch((error: unknown) => {
    if (!(error instanceof KnownError) || error.code !== 'ARCHIVE_INVALID') throw error
    throw invalidRunFile(file, error.message)
  })
  if (flaw) throw invalidRunFile(file, `it is cut or damaged at byte ${flaw.offset}: ${flaw.why}`)
  const list = heads.get(runFileNames.manifest)
  if (list === undefined) throw invalidRunFile(file, 'it has no list of its contents')
  if (heads.get(runFileNames.manifestSum)?.toString('utf8') !== manifestSum(list)) {
    throw invalidRunFile(file, 'its list of contents is not the one that was exported')
  }
  const manifest = parseManifest(list.toString('utf8'), file)
  const wrong = manifest.entries.find(({ name, size }) => places.get(name)?.size !== size)
  if (wrong) throw invalidRunFile(file, `${wrong.name} is not in it, or has another size`)
  if (places.size !== manifest.entries.length) throw invalidRunFile(file, 'it has more in it than it lists')
  return { manifest, places }
}

interface Unpacking extends Contents {
  readonly staged: RunDirectory
}

async function unpack(file: string, { manifest, places, staged }: Unpacking): Promise<void> {
  const source = await open(file, 'r')
  try {
    for (const directory of [staged.shared, staged.undoInbox]) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
    }
    for (const entry of manifest.entries) {
      const offset = places.get(entry.name)?.offset ?? 0
      const sha256 = await copyEntry(source, { entry, offset, to: join(staged.root, entry.name) })
      if (sha256 !== entry.sha256) throw invalidRunFile(file, `${entry.name} has other bytes than were exported`)
    }
  } finally {
    await source.close()
  }
}

async function copyEntry(
  source: FileHandle,
  { entry, offset, to }: { readonly entry: RunFileEntry; readonly offset: number; readonly to: string },
): Promise<string> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const target = await open(to, 'wx', entry.mode)
  const hash = createHash('sha256')
  try {
    for (let done = 0; done < entry.size; ) {
      const chunk = Buffer.alloc(Math.min(chunkBytes, entry.size - done))
      const { bytesRead } = await source.read(chunk, 0, chunk.byteLength, offset + done)
      if (bytesRead === 0) break
      hash.update(chunk.subarray(0, bytesRead))
      await target.writeFile(chunk.subarray(0, bytesRead))
      done += bytesRead
    }
    await target.sync()
  } finally {
    await target.close()
  }
  return hash.digest('hex')
}

interface SecretParts {
  readonly manifest: RunManifest
  readonly staged: RunDirectory
  readonly options: ImportOptions
}

/** Names of those that nobody gave. */
async function keepSecrets({ manifest, staged, options }: SecretParts): Promise<readonly string[]> {
  const sealed = join(staged.root, runFileNames.sealed)
  const { passphrase, secrets: given = {} } = options
  const travelled =
    passphrase !== undefined && (await isThere(sealed)) ? openSecrets(await readText(sealed), passphrase) : {}
  await rm(sealed, { force: true })
  const all = { ...travelled, ...given }
  const store = await openSecretStore(staged.secrets, () => Promise.resolve(undefined))
  for (const [name, value] of Object.entries(all)) {
    // The key of fingerprints is no secret of a step: it has the name that the store looks for.
    if (name.startsWith('.')) await writeStaged(join(staged.secrets, name), (file) => file.writeFile(value), 0o600)
    else await store.keep(name, value)
  }
  return manifest.secrets.filter((name) => all[name] === undefined)
}

async function readText(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

interface Origin {
  readonly manifest: RunManifest
  readonly file: string
  readonly digest: string
  readonly clock: Clock
}

async function noteImport(
  { journal: path }: RunDirectory,
  { manifest: { run, host }, file, digest, clock }: Origin,
): Promise<boolean> {
  const journal = await openJournal(path)
  try {
    if (journal.state.run !== run) throw invalidRunFile(file, `it has no journal of run ${run}`)
    await journal.append({ type: 'run.imported', host, digest }, { at: clock.now() })
    return [...journal.state.steps.values()].some(({ outline }) => outline.where !== undefined)
  } finally {
    await journal.close()
  }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array)
  } catch (cause) {
    throw new KnownError('FILE_UNREADABLE', `${file} cannot be read`, { details: { file }, cause })
  }
  return `sha256:${hash.digest('hex')}`
}

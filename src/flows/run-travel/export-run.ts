import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type TarEntry, tarFile, writeTar } from '../../archive/tar/ustar.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import { acquireLock } from '../../host/lock.ts'
import { ifThere } from '../../store/presence.ts'
import { writeStaged } from '../../store/staged-write.ts'
import { openJournal } from '../../workflow/journal-file.ts'
import type { RunDirectory } from '../../workflow/run-directory.ts'
import { isLeftBehind, manifestSum, type RunFileEntry, type RunManifest, runFileNames } from './run-file.ts'
import { sealSecrets } from './sealed-secrets.ts'

export interface ExportOptions {
  readonly clock: Clock
  /** Absolute. */
  readonly file: string
  /** Seals the secrets that the run made; without it they stay here. */
  readonly passphrase?: string
}

export interface ExportedRun {
  readonly file: string
  readonly sizeBytes: number
  /** `sha256:…` of the file. */
  readonly digest: string
  readonly files: number
  /** Names of secrets that stay here. */
  readonly missingSecrets: readonly string[]
  readonly sealedSecrets: readonly string[]
  /** What is no regular file, and stays here. */
  readonly leftOut: readonly string[]
  /** Whether scripts have left files in SHARED_DIR: nobody knows what is in them. */
  readonly hasShared: boolean
}

const chunkBytes = 1024 * 1024

/**
 * Writes a run into one file, and notes in its journal that it goes on elsewhere.
 *
 * @throws KnownError STORE_LOCKED while somebody runs it, DISK_FULL
 */
export async function exportRun(directory: RunDirectory, options: ExportOptions): Promise<ExportedRun> {
  const release = await acquireLock(directory.lock)
  try {
    const exported = await writeRunFile(directory, options)
    const journal = await openJournal(directory.journal)
    try {
      await journal.append({ type: 'run.exported', file: options.file }, { at: options.clock.now() })
    } finally {
      await journal.close()
    }
    return exported
  } finally {
    await release()
  }
}

async function writeRunFile(directory: RunDirectory, { file, passphrase }: ExportOptions): Promise<ExportedRun> {
  const leftOut: string[] = []
  const copy = await copyThatIsOut(directory)
  const names = (await listFiles(directory.root, '', leftOut)).filter(
    (name) => !isOfAttempt(name, copy) && join(directory.root, name) !== file,
  )
  const secrets = await secretsOf(directory)
  const secretNames = Object.keys(secrets).filter((name) => !name.startsWith('.'))
  const entries: RunFileEntry[] = []
  for (const name of names) entries.push(await describe(directory.root, name))
  const contents: TarEntry[] = entries.map(({ name, size, mode }) => ({
    name,
    size,
    mode,
    content: () => readChunks(join(directory.root, name), size),
  }))
  if (passphrase !== undefined) {
    const sealed = Buffer.from(sealSecrets(secrets, passphrase))
    entries.push({ name: runFileNames.sealed, size: sealed.byteLength, sha256: sha256(sealed), mode: 0o600 })
    contents.push({ ...tarFile(runFileNames.sealed, sealed), mode: 0o600 })
  }
  const { host, workflow } = await originOf(directory)
  const manifest: RunManifest = { format: 1, run: directory.id, workflow, host, entries, secrets: secretNames }
  const text = `${JSON.stringify(manifest)}\n`
  const list = [tarFile(runFileNames.manifest, text), tarFile(runFileNames.manifestSum, manifestSum(text))]
  const written = await writeArchive(file, [...list, ...contents])
  return {
    file,
    ...written,
    files: names.length,
    missingSecrets: passphrase === undefined ? secretNames : [],
    sealedSecrets: passphrase === undefined ? [] : secretNames,
    leftOut,
    hasShared: names.some((name) => name.startsWith('shared/') || name.startsWith('state/')),
  }
}

/** What a step that was interrupted has of SHARED_DIR: the next session takes it over, on the other side too. */
function copyThatIsOut({ shared }: RunDirectory): Promise<string | undefined> {
  return ifThere(readFile(`${shared}.out`, 'utf8'))
}

/** What else attempts have left is for nobody, and perhaps a login. */
function isOfAttempt(name: string, copy: string | undefined): boolean {
  return name.startsWith('state/') && (copy === undefined || !name.startsWith(`${copy}/`))
}

async function writeArchive(
  path: string,
  entries: readonly TarEntry[],
): Promise<{ readonly sizeBytes: number; readonly digest: string }> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  await writeStaged(
    path,
    async (file) => {
      for (const chunk of writeTar(entries)) {
        hash.update(chunk)
        sizeBytes += chunk.byteLength
        await file.writeFile(chunk)
      }
      await file.sync()
    },
    0o600,
  )
  return { sizeBytes, digest: `sha256:${hash.digest('hex')}` }
}

async function originOf({
  journal: path,
}: RunDirectory): Promise<{ readonly host: string; readonly workflow: string }> {
  const journal = await openJournal(path)
  try {
    return { host: journal.state.session?.host ?? 'unknown', workflow: journal.state.workflow }
  } finally {
    await journal.close()
  }
}

/** Paths of regular files, sorted; what is something else goes to `leftOut`. */
async function listFiles(root: string, folder: string, leftOut: string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (isLeftBehind(name)) continue
    if (entry.isDirectory()) found.push(...(await listFiles(root, name, leftOut)))
    else if (entry.isFile()) found.push(name)
    else leftOut.push(name)
  }
  return found.sort((a, b) => (a < b ? -1 : 1))
}

async function describe(root: string, name: string): Promise<RunFileEntry> {
  const path = join(root, name)
  const { size, mode } = await stat(path)
  const hash = createHash('sha256')
  for (const chunk of readChunks(path, size)) hash.update(chunk)
  return { name, size, sha256: hash.digest('hex'), mode: mode & 0o777 }
}

function* readChunks(path: string, size: number): Generator<Uint8Array> {
  const file = openSync(path, 'r')
  try {
    for (let offset = 0; offset < size; ) {
      const chunk = Buffer.alloc(Math.min(chunkBytes, size - offset))
      const read = readSync(file, chunk, 0, chunk.byteLength, offset)
      if (read === 0) throw new KnownError('STORE_LOCKED', `${path} is being changed: it got shorter while it was read`)
      offset += read
      yield chunk.subarray(0, read)
    }
  } finally {
    closeSync(file)
  }
}

/** With the key of their fingerprints: without it every step that has a secret would seem to have another. */
async function secretsOf({ secrets: directory }: RunDirectory): Promise<Readonly<Record<string, string>>> {
  const names = await readdir(directory).catch(() => [])
  const kept = names.filter((name) => !name.endsWith('.new')).sort()
  const values = await Promise.all(kept.map((name) => readFile(join(directory, name), 'utf8')))
  return Object.fromEntries(kept.map((name, index) => [decodeURIComponent(name), values[index] ?? '']))
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * Writes tar archives: POSIX ustar, with a pax header where a name does not fit (POSIX.1-2024 pax, "ustar Interchange Format").
 *
 * The same entries give the same bytes: no owner, no time, the modes that are asked for. Names are written as they are
 * given, so that tests can also make the archives that a reader must refuse.
 */

type TarEntryType = 'file' | 'directory' | 'symlink' | 'hardlink'

export interface TarEntry {
  readonly name: string
  /** Default: `file`. */
  readonly type?: TarEntryType
  /** Size of `content` in bytes; 0 for everything but files. */
  readonly size?: number
  /** Called once each time that the archive is written. */
  readonly content?: () => Iterable<Uint8Array>
  /** Where a link points. */
  readonly linkName?: string
  /** Permission bits. Default: 0755 for directories, else 0644. */
  readonly mode?: number
}

const blockBytes = 512
/** Eleven octal digits. */
const maxUstarSize = 8 ** 11 - 1
const typeFlags: Readonly<Record<TarEntryType, string>> = { file: '0', hardlink: '1', symlink: '2', directory: '5' }

/** A file whose content is at hand. */
export function tarFile(name: string, content: Uint8Array | string): TarEntry {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return { name, size: bytes.byteLength, content: () => [bytes] }
}

/** The bytes of an archive of `entries`, in their order, closed by two empty blocks. */
export function* writeTar(entries: Iterable<TarEntry>): Generator<Uint8Array> {
  for (const entry of entries) {
    const pax = paxRecords(entry)
    if (pax.byteLength > 0) {
      yield header({ name: 'PaxHeader', size: pax.byteLength }, 'x')
      yield pax
      yield padding(pax.byteLength)
    }
    const size = entry.size ?? 0
    yield header(entry, typeFlags[entry.type ?? 'file'])
    if (entry.content) yield* entry.content()
    yield padding(size)
  }
  yield Buffer.alloc(2 * blockBytes)
}

/**
 * The header of a file: one block, or with `pax` three, of which the first two hold its name and size whatever they are.
 *
 * @throws RangeError for a name that even these do not hold
 */
export function fileHeader(name: string, size: number, { pax }: { readonly pax: boolean }): Buffer {
  const own = header({ name, size }, typeFlags.file)
  if (!pax) return own
  const records = Buffer.from(`${paxRecord('path', name)}${paxRecord('size', String(size))}`)
  if (records.byteLength > blockBytes) throw new RangeError(`the name ${name} is too long`)
  const before = header({ name: 'PaxHeader', size: records.byteLength }, 'x')
  return Buffer.concat([before, records, padding(records.byteLength), own])
}

function header(entry: TarEntry, typeFlag: string): Buffer {
  const block = Buffer.alloc(blockBytes)
  const mode = entry.mode ?? (entry.type === 'directory' ? 0o755 : 0o644)
  block.write(entry.name, 0, 100)
  block.write(octal(mode, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(Math.min(entry.size ?? 0, maxUstarSize), 11), 124)
  block.write(octal(0, 11), 136)
  block.write(' '.repeat(8), 148)
  block.write(typeFlag, 156)
  block.write(entry.linkName ?? '', 157, 100)
  block.write('ustar\u000000', 257)
  const checksum = block.reduce((sum, byte) => sum + byte, 0)
  block.write(`${octal(checksum, 6)}\0 `, 148)
  return block
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

function padding(size: number): Buffer {
  return Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)
}

/** What the fields of a ustar header cannot hold: long names, sizes of 8 GiB and more. */
function paxRecords(entry: TarEntry): Buffer {
  const size = entry.size ?? 0
  const records = [
    ...(fits(entry.name) ? [] : [paxRecord('path', entry.name)]),
    ...(fits(entry.linkName ?? '') ? [] : [paxRecord('linkpath', entry.linkName ?? '')]),
    ...(size <= maxUstarSize ? [] : [paxRecord('size', String(size))]),
  ]
  return Buffer.from(records.join(''))
}

function fits(name: string): boolean {
  return Buffer.byteLength(name) <= 100
}

/** `LENGTH KEY=VALUE\n`, where LENGTH counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + String(rest).length
  if (String(length).length > String(rest).length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}

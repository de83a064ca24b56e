/** Tar headers as no honest program writes them, and as programs other than ours do. */

export interface TarBlockOptions {
  readonly name: string
  /** As the header shall claim it, in bytes. Default: 0. */
  readonly size?: number | bigint
  /** Overrides the field that holds the size. */
  readonly sizeField?: string
  /** Type flag. Default: a file. */
  readonly type?: string
  readonly linkName?: string
  /** True for GNU's way to write sizes, in base 256. */
  readonly isBinarySize?: boolean
  /** Default: `ustar` as POSIX has it. */
  readonly magic?: string
}

/** One header with a right checksum. */
export function tarBlock(options: TarBlockOptions): Buffer {
  const block = Buffer.alloc(512)
  block.write(options.name, 0, 100)
  block.write('0000644\u00000000000\u00000000000\0', 100)
  const size = options.size ?? 0
  if (options.isBinarySize) binary(BigInt(size)).copy(block, 124)
  else block.write(options.sizeField ?? size.toString(8).padStart(11, '0'), 124, 12)
  block.write('00000000000', 136)
  block.write(options.type ?? '0', 156)
  block.write(options.linkName ?? '', 157, 100)
  block.write(options.magic ?? 'ustar\u000000', 257)
  return withChecksum(block)
}

export function withChecksum(block: Buffer): Buffer {
  block.write(' '.repeat(8), 148)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

/** A header with its content, padded. */
export function tarContent(options: TarBlockOptions, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content)
  const padding = Buffer.alloc((512 - (bytes.byteLength % 512)) % 512)
  return Buffer.concat([tarBlock({ size: bytes.byteLength, ...options }), bytes, padding])
}

export const tarEnd = Buffer.alloc(1024)

/** Two's complement of 96 bits, the first of which says that it is one. */
function binary(value: bigint): Buffer {
  const field = Buffer.from(BigInt.asUintN(96, value).toString(16).padStart(24, '0'), 'hex')
  field[0] = (field[0] ?? 0) | 0x80
  return field
}

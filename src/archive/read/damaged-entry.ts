import { KnownError } from '../../errors/known-error.ts'
import type { Segment } from '../format/layout.ts'

type Piece = Pick<Segment, 'volume' | 'offset' | 'length'>

/** An entry without which the rest cannot be read, and where it lies. */
export class DamagedEntry extends KnownError {
  readonly entry: string
  readonly pieces: readonly Piece[]

  constructor(message: string, { entry, file, pieces }: { entry: string; file: string; pieces: readonly Piece[] }) {
    const [first] = pieces
    super('ARCHIVE_DAMAGED', message, { details: { file, entry, volume: first?.volume, offset: first?.offset } })
    this.entry = entry
    this.pieces = pieces
  }
}

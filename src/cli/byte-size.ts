import { KnownError } from '../errors/known-error.ts'

const factors: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
}

/**
 * Reads `650MiB`, `4.7GB` or a plain number of bytes.
 *
 * @throws KnownError USAGE
 */
export function parseByteSize(text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim()) ?? []
  const factor = factors[unit.toUpperCase()]
  if (number !== '' && factor !== undefined) return Math.floor(Number(number) * factor)
  throw new KnownError('USAGE', `"${text}" is no size`, {
    hint: 'Write a number and a unit: 650MiB, 4GiB, 4.7GB; without a unit it is bytes.',
  })
}

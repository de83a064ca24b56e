import { readTextFile } from '../config/yaml-document.ts'
import { KnownError } from '../errors/known-error.ts'

const shortest = 12

/**
 * The first line of a file.
 *
 * @throws KnownError USAGE where it is too short to seal anything, FILE_UNREADABLE
 */
export async function readPassphrase(file: string): Promise<string> {
  const [line = ''] = (await readTextFile(file)).split(/\r?\n/, 1)
  if (line.length >= shortest) return line
  throw new KnownError(
    'USAGE',
    `The first line of ${file} has ${line.length} characters: a passphrase needs ${shortest}`,
    {
      hint: 'openssl rand -base64 24 makes one.',
    },
  )
}

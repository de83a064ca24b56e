/** Keys that signatures are checked with: read from files, and judged by what they say of themselves. */
import type { Config, Key, Subkey } from 'openpgp'
import { KnownError } from '../errors/known-error.ts'

export interface KeySource {
  /** One key or several, armored or binary. */
  readonly content: string | Uint8Array
  /** Where it comes from, for messages: a path, or `built in`. */
  readonly origin: string
}

export interface TrustedKey {
  readonly key: Key
  readonly origin: string
}

export type Keyring = readonly TrustedKey[]

/** The part of a trusted key that made a signature: the key itself or one of its subkeys. */
export interface SigningKey extends TrustedKey {
  readonly part: Key | Subkey
}

/** Loaded when it is needed: the package costs every start 60 ms and 17 MB otherwise. */
export function loadOpenPgp(): Promise<typeof import('openpgp')> {
  return import('openpgp')
}

/**
 * What a key may say of itself by: SHA-1 as well, which the keys of Red Hat do (2009), but see `maySelfSignBySha1Until`. A key
 * is trusted for where it was taken from; the signature over itself adds only its name, its use and its end.
 */
export async function keyRules(): Promise<Config> {
  const { config, enums } = await loadOpenPgp()
  return {
    ...config,
    rejectHashAlgorithms: new Set([enums.hash.md5, enums.hash.ripemd]),
    rejectMessageHashAlgorithms: new Set([enums.hash.md5, enums.hash.ripemd, enums.hash.sha1]),
    minRSABits: 2048,
  }
}

/**
 * From here on nobody has an excuse: collisions of SHA-1 that an attacker chooses were shown to be practical. GnuPG draws the same
 * line for signatures over keys (`--allow-weak-key-signatures`).
 */
export const maySelfSignBySha1Until = Date.UTC(2019, 0, 19)

/**
 * A key that stands there several times is one key, with everything that any copy says: a revocation, a later end.
 *
 * @throws KnownError KEY_INVALID where a source holds no public key, or one that cannot be read
 */
export async function loadKeys(sources: readonly KeySource[]): Promise<Keyring> {
  const keys = new Map<string, TrustedKey>()
  for (const { key, origin } of (await Promise.all(sources.map(readSource))).flat()) {
    const known = keys.get(key.getFingerprint())
    keys.set(
      key.getFingerprint(),
      known === undefined ? { key, origin } : { ...known, key: await known.key.update(key) },
    )
  }
  return [...keys.values()]
}

async function readSource({ content, origin }: KeySource): Promise<TrustedKey[]> {
  const text = typeof content === 'string' ? content : Buffer.from(content).toString('latin1')
  if (/-----BEGIN PGP PRIVATE KEY BLOCK-----/.test(text)) throw isPrivate(origin)
  const blocks = text.match(/-----BEGIN PGP PUBLIC KEY BLOCK-----[\s\S]*?-----END PGP PUBLIC KEY BLOCK-----/g)
  if (blocks === null && (typeof content === 'string' || text.includes('-----BEGIN'))) {
    throw invalidKey(origin, 'holds no OpenPGP public key')
  }
  const { readKeys } = await loadOpenPgp()
  try {
    const keys =
      blocks === null
        ? await readKeys({ binaryKeys: Buffer.from(text, 'latin1') })
        : (await Promise.all(blocks.map((block) => readKeys({ armoredKeys: block })))).flat()
    if (keys.some((key) => key.isPrivate())) throw isPrivate(origin)
    return keys.map((key) => ({ key, origin }))
  } catch (cause) {
    if (cause instanceof KnownError) throw cause
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    throw invalidKey(origin, `holds no OpenPGP public key that can be read${why}`, cause)
  }
}

function isPrivate(origin: string): KnownError {
  return invalidKey(origin, 'is a private key, which has no business where something is only verified')
}

function invalidKey(origin: string, why: string, cause?: unknown): KnownError {
  return new KnownError('KEY_INVALID', `${origin} ${why}`, {
    details: { key: origin },
    hint: 'Name a file with OpenPGP public keys, as gpg --export --armor KEY writes it.',
    cause,
  })
}

/** Upper case, as GnuPG prints it. */
export function keyIdOf(part: Key | Subkey): string {
  return part.getKeyID().toHex().toUpperCase()
}

/** Puts the flags of oc-mirror v2 on a command, and tells what became of those that a user gave. */
import { type Command, Option } from 'commander'
import { KnownError } from '../errors/known-error.ts'
import type { Env } from '../host/env.ts'
import { parseBoolean, readBoolean } from './flag-values.ts'
import { ignoredVariables, type OcMirrorFlag, ocMirrorFlags } from './oc-mirror-flags.ts'

/** What the flags say that work and that no other part declares. */
export interface OcMirrorOptions {
  parallelImages?: number
  parallelLayers?: number
  /** `YYYY-MM-DD` */
  since?: string
  /** 0 for any number. */
  maxNestedPaths?: number
  removeSignatures?: boolean
  dryRunManifestLists?: boolean
  quiet?: boolean
  securePolicy?: boolean
  policy?: string
  'registries.d'?: string
  ignoreReleaseSignature?: boolean
}

/**
 * Adds every flag that `command` does not declare by itself, those that do nothing without a line in `--help`. Also lets
 * flags without a value be written `--flag=true` and `--flag=false`, as Go programs do.
 */
export function addOcMirrorOptions(command: Command, on: 'mirror' | 'delete'): Command {
  for (const flag of flagsOf(on)) {
    const option = optionOf(flag)
    const isThere = command.options.some(({ long }) => long === option.long)
    if (!isThere && !flag.isDeclared) command.addOption(option)
  }
  return acceptGoBooleans(command)
}

function flagsOf(command: 'mirror' | 'delete'): readonly OcMirrorFlag[] {
  return ocMirrorFlags.filter(({ on }) => on === 'all' || on === command)
}

function optionOf({ flags, help, read }: OcMirrorFlag): Option {
  const option = new Option(flags, help).hideHelp(help === undefined)
  return read ? option.argParser(read) : option
}

function acceptGoBooleans(command: Command): Command {
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (words) => parse(words.flatMap((word, at) => withoutGoBoolean(command, word, words[at + 1])))
  return command
}

/** commander knows `--flag` alone, and takes the word after `--flag [yes]` for its value, whatever it is. */
function withoutGoBoolean(command: Command, word: string, next = ''): string[] {
  const [name, text] = word.split('=', 2)
  const option = command.options.find(({ long }) => long === name)
  if (!option || option.required) return [word]
  if (option.optional) {
    const isAlone = text === undefined && parseBoolean(next) === undefined
    return isAlone && option.parseArg === readBoolean ? [`${word}=true`] : [word]
  }
  const value = text === undefined ? undefined : parseBoolean(text)
  if (value === undefined) return [word]
  return value ? [option.long ?? word] : []
}

/**
 * A line for every flag and variable that was given and does nothing here, to be told once on standard error.
 *
 * @param options as commander gives them
 * @throws KnownError USAGE for a flag without which nothing may go on
 */
export function ignoredFlags(options: object, on: 'mirror' | 'delete', env: Env = {}): readonly string[] {
  const given = flagsOf(on).filter((flag) => Reflect.get(options, optionOf(flag).attributeName()) !== undefined)
  const refused = given.find(({ verdict }) => verdict === 'refused')
  if (refused) throw refusal(refused)
  const variables = Object.entries(ignoredVariables).filter(([name]) => env[name])
  return [
    ...given
      .filter(({ verdict }) => verdict === 'ignored')
      .map((flag) => `${optionOf(flag).long} is ignored: ${flag.reason}`),
    ...variables.map(([name, reason]) => `${name} is ignored: ${reason}`),
  ]
}

function refusal(flag: OcMirrorFlag): KnownError {
  const name = optionOf(flag).long
  const [reason = '', ...remedy] = flag.reason?.split('; ') ?? []
  const next = remedy.join('; ')
  return new KnownError('USAGE', `${name} cannot be carried out: ${reason}`, {
    details: { flag: name },
    hint: `${next.charAt(0).toUpperCase()}${next.slice(1)}.`,
  })
}

/** oc-mirror's own defaults, which count where only one of the two is given. */
const ocMirrorParallel = { images: 4, layers: 5 }
const mostBlobs = 64

/** How many blobs may be under way at a time; undefined where nobody asked. */
export function concurrencyOf({ parallelImages, parallelLayers }: OcMirrorOptions): number | undefined {
  if (parallelImages === undefined && parallelLayers === undefined) return undefined
  const { images, layers } = ocMirrorParallel
  return Math.min(mostBlobs, (parallelImages ?? images) * (parallelLayers ?? layers))
}

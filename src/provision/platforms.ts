import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { Env } from '../host/env.ts'
import { remainsInLab, removeFromLab } from './lab/lab-undo.ts'
import { type LabOptions, openLab } from './lab/open-lab.ts'
import type { Provider } from './provider.ts'

/** What a provider is given of the machine that Sallyport runs on. */
export interface ProviderHost {
  readonly env: Env
  readonly clock: Clock
}

/** What undo records are undone with: nothing else is known of a platform then. */
export type Undoing = Pick<Provider, 'platform' | 'remove' | 'remains'>

const platforms: Readonly<Record<string, (host: ProviderHost, options: LabOptions) => Promise<Provider>>> = {
  lab: openLab,
}

const undoings: Readonly<Record<string, (host: ProviderHost) => Undoing>> = {
  lab: (host) => ({ platform: 'lab', remove: (undo) => removeFromLab(host, undo), remains: remainsInLab }),
}

/** @throws KnownError PLATFORM_UNKNOWN, and what opening that platform throws */
export function openProvider(platform: string, host: ProviderHost, options: LabOptions): Promise<Provider> {
  return known(platforms, platform)(host, options)
}

/** @throws KnownError PLATFORM_UNKNOWN */
export function openUndoing(platform: string, host: ProviderHost): Undoing {
  return known(undoings, platform)(host)
}

function known<Value>(table: Readonly<Record<string, Value>>, platform: string): Value {
  const found = Object.hasOwn(table, platform) ? table[platform] : undefined
  if (found !== undefined) return found
  const names = Object.keys(table).join(', ')
  throw new KnownError('PLATFORM_UNKNOWN', `There is no platform "${platform}": known ${names}`, {
    details: { platform },
  })
}

/** Rules for encrypted volumes (coreos/ignition `config/v3_N/types/{luks,clevis,custom,cex,tang}.go`). */
import type { Clevis, ClevisCustom, Luks, Tang } from '../config.ts'
import { parseGoUrl } from '../go-url.ts'
import { readJson } from '../json-tree.ts'
import { messages } from './messages.ts'
import { pathFault } from './path-rule.ts'
import type { Place } from './place.ts'
import { optionalSourceFault } from './source-rule.ts'

export function checkLuks({ name, label, device, clevis, cex, keyFile }: Luks, place: Place): void {
  if (name.includes('/')) place.error(messages.luksName, 'name')
  if (Buffer.byteLength(label ?? '') > 47) place.error(messages.luksLabel, 'label')
  place.error(device ? pathFault(device) : messages.deviceRequired, 'device')
  // In 3.2 a custom pin counts where it is there at all.
  const hasCustom = place.minor >= 3 ? Boolean(clevis?.custom?.pin) : Boolean(clevis?.custom)
  if (hasCustom && hasOwnPins(clevis ?? {})) place.error(messages.clevisWithOthers, 'clevis')
  if (optionalSourceFault(keyFile?.source, place.minor) !== undefined) place.error(messages.luksKeyFile, 'keys')
  if (cex?.enabled !== true) return
  if (hasCustom || hasOwnPins(clevis ?? {})) place.error(messages.cexWithClevis, 'cex')
  if (keyFile?.source) place.error(messages.cexWithKeyFile, 'cex')
}

function hasOwnPins({ tang = [], tpm2, threshold }: Clevis): boolean {
  return tang.length > 0 || tpm2 === true || Boolean(threshold)
}

const knownPins: ReadonlySet<string> = new Set(['tpm2', 'tang', 'sss'])

export function checkClevisCustom({ pin, config, needsNetwork }: ClevisCustom, place: Place): void {
  const isAbsent = !pin && !config && (place.minor < 3 || needsNetwork !== true)
  if (isAbsent) return
  if (!pin && place.minor >= 3) place.error(messages.clevisPinRequired, 'pin')
  else if (place.minor < 6 && !knownPins.has(pin ?? '')) place.error(messages.clevisPin, 'pin')
  if (!config) place.error(messages.clevisConfig, 'config')
}

export function checkTang({ url, thumbprint, advertisement }: Tang, place: Place): void {
  place.error(tangUrlFault(url), 'url')
  if (!thumbprint) place.error(messages.tangThumbprint, 'thumbprint')
  if (advertisement && !isJson(advertisement)) place.error(messages.tangAdvertisement, 'advertisement')
}

function tangUrlFault(text: string): string | undefined {
  const url = parseGoUrl(text)
  if (!url) return messages.invalidUrl
  return url.scheme === 'http' || url.scheme === 'https' ? undefined : messages.invalidScheme
}

function isJson(text: string): boolean {
  return 'root' in readJson(Buffer.from(text))
}

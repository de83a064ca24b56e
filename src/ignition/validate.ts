/**
 * Would Ignition start from this config: the verdict of `ignition-validate`, in its words and at its places.
 *
 * One document is looked at, nothing is fetched. It differs from `ignition-validate` only where that says less:
 * - at the end of the text it names the place (there: line 0 col 0), and for a value of the wrong type its path;
 * - `unsupported config version` and the like have a place, and a note about what can be done;
 * - of several pairs of partitions with the same number the first is told (there: any);
 * - unused keys come in the order of the text (there: in any), also beside a number that is too large for Go, which there
 *   hides all of them, and every place.
 *
 * Source: coreos/ignition `validate/main.go`, `config/v3_N/config.go`, `config/util/parsingErrors.go`.
 */
import { type JsonNode, readJson } from './json-tree.ts'
import { deepestNode, formatConfigPath, LineIndex, offsetOf } from './positions.ts'
import type { IgnitionReport, IgnitionReportEntry } from './report.ts'
import { type SpecVersion, specVersion } from './spec-version.ts'
import { type DecodedStruct, decodeStruct } from './validation/decode.ts'
import { examine } from './validation/examine.ts'
import { messages } from './validation/messages.ts'
import type { PlacedMessage } from './validation/place.ts'
import { configType, versionStubType } from './validation/spec-fields.ts'

/** @param text of a config; bytes that are no UTF-8 are best given as they are */
export function validateIgnition(text: string | Uint8Array): IgnitionReport {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  const entries = new Validation(bytes).entries()
  return { entries, isFatal: entries.some(({ severity }) => severity === 'error') }
}

class Validation {
  readonly #bytes: Uint8Array
  #lines: LineIndex | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  entries(): readonly IgnitionReportEntry[] {
    if (this.#bytes.length === 0) return [{ severity: 'error', path: '$', message: messages.empty }]
    const document = readJson(this.#bytes)
    if ('fault' in document) return [this.#faultEntry('$', document.fault), ...this.#noteOfByteOrderMark()]
    const { root } = document
    const stub = decodeStruct(root, versionStubType())
    if ('fault' in stub) return [this.#faultEntry(formatConfigPath(stub.fault.path), stub.fault)]
    const version = specVersion(versionIn(stub.value))
    if (version.kind !== 'known') return this.#versionEntries(root, version)
    const type = configType(version.minor)
    const config = decodeStruct(root, type)
    if ('fault' in config) return [this.#faultEntry(formatConfigPath(config.fault.path), config.fault)]
    const found = examine({ root, value: config.value, type, minor: version.minor })
    return found.map((message) => this.#entry(root, message))
  }

  #faultEntry(path: string, { message, offset }: { message: string; offset: number }): IgnitionReportEntry {
    return { severity: 'error', path, ...this.#placeOf(offset), message }
  }

  #entry(root: JsonNode, { severity, path, message, isKey = false }: PlacedMessage): IgnitionReportEntry {
    const node = deepestNode(root, isKey ? path.slice(0, -1) : path)
    const member = isKey && node.kind === 'object' ? node.members.findLast(({ key }) => key === path.at(-1)) : undefined
    return { severity, path: formatConfigPath(path), ...this.#placeOf(member?.keyStart ?? offsetOf(node)), message }
  }

  #versionEntries(root: JsonNode, version: SpecVersion): readonly IgnitionReportEntry[] {
    const message = version.kind === 'invalid' ? messages.invalidVersion : messages.unknownVersion
    const entry = this.#entry(root, { severity: 'error', path: ['ignition', 'version'], message })
    const isOld = version.kind === 'unknown' && version.major === 2
    return [entry, { ...entry, severity: 'info', message: isOld ? noteOfSpec2 : noteOfVersions }]
  }

  /** Editors of other systems put it there, and show nothing of it. */
  #noteOfByteOrderMark(): readonly IgnitionReportEntry[] {
    const [first, second, third] = this.#bytes
    if (first !== 0xef || second !== 0xbb || third !== 0xbf) return []
    return [{ severity: 'info', path: '$', line: 1, column: 1, message: noteOfMark }]
  }

  #placeOf(offset: number): { line: number; column: number } {
    this.#lines ??= new LineIndex(this.#bytes)
    return this.#lines.placeOf(offset)
  }
}

const noteOfSpec2 =
  'specification 2.x is read by RHCOS of OpenShift 4.5 and before, and by Ignition 0.x; sallyport ignition inspect reads it too'
const noteOfVersions = 'specifications 3.0.0 to 3.6.0 are known, and 3.7.0-experimental'
const noteOfMark = 'the file begins with a byte order mark, which Ignition does not take: save it as UTF-8 without one'

function versionIn({ Ignition }: DecodedStruct): string {
  const version = typeof Ignition === 'object' && Ignition !== null && 'Version' in Ignition ? Ignition.Version : ''
  return typeof version === 'string' ? version : ''
}

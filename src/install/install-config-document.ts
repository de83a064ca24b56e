/** An install-config that is checked: its values, where they stand, and what has been found. */

import { configError, InvalidConfiguration } from '../config/invalid-config.ts'
import { openYaml, type YamlFile, type YamlSource } from '../config/yaml-document.ts'
import type { ValuePath } from '../config/yaml-nodes.ts'
import { formatPath } from '../config/yaml-place.ts'
import type { Finding, Severity } from '../errors/finding.ts'
import { finding } from '../errors/finding.ts'

import { withKnownNames } from './install-config-fields.ts'

interface Complaint {
  /** After `install-config.`. */
  readonly id: string
  readonly severity?: Severity
  readonly path: ValuePath
  readonly summary: string
  readonly part?: 'key' | 'value'
}

export class InstallConfigDocument {
  readonly value: Readonly<Record<string, unknown>>
  /** The minor of the release that installs it, 18 for 4.18; undefined where nobody said. */
  readonly minor: number | undefined
  readonly findings: Finding[] = []
  readonly #file: YamlFile

  /** @throws InvalidConfiguration where the text is no YAML mapping */
  constructor(source: YamlSource, minor: number | undefined) {
    this.#file = openYaml(source)
    this.value = withKnownNames(plainMapping(this.#file))
    this.minor = minor
  }

  /** True where the release is that minor or a later one, and known. */
  isAtLeast(minor: number): boolean {
    return this.minor !== undefined && this.minor >= minor
  }

  isBefore(minor: number): boolean {
    return this.minor !== undefined && this.minor < minor
  }

  /** An error where the release is of that minor or later; where it is unknown, a warning. */
  severityFrom(minor: number): Severity {
    return this.isAtLeast(minor) ? 'error' : 'warning'
  }

  tell({ id, severity = 'error', path, summary, part = 'value' }: Complaint): void {
    const name = formatPath(path)
    this.findings.push(
      finding({
        id: `install-config.${id}`,
        severity,
        summary: `${name === '' ? '' : `${name}: `}${summary}`.replaceAll(/[\r\n]+/g, ' '),
        where: this.#file.placeOf(path, part),
      }),
    )
  }
}

function plainMapping(file: YamlFile): Readonly<Record<string, unknown>> {
  const value = toPlain(file)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  const summary = 'a mapping of fields must stand here, as openshift-install create install-config writes it'
  throw new InvalidConfiguration([configError('install-config.value', summary, file.placeOf([]))])
}

function toPlain({ document, placeOf }: YamlFile): unknown {
  try {
    return document.toJS()
  } catch (error) {
    // An alias of nothing, or one that would unfold without end.
    if (!(error instanceof Error)) throw error
    throw new InvalidConfiguration([configError('config.yaml', error.message, placeOf([]))])
  }
}

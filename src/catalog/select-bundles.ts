/**
 * What one entry of `operators:` keeps of its catalog.
 *
 * The rules are those of the catalog filter of oc-mirror v2 (openshift/oc-mirror `internal/pkg/operator/catalog_handler.go`,
 * sherine-k/catalog-filter `pkg/filter/mirror-config/v1alpha1/mirror-filter.go`): without packages all of them, without
 * channels all of a package, without a range the head of each channel. Differences, each on purpose: a package, channel or
 * bundle that is not there is an error, where catalog-filter drops it in silence; a bundle without a version is in no range,
 * where it ends the run; what no channel lists is never kept.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Catalog } from './meta.ts'
import { unknownPackage } from './select-names.ts'
import { type PackageChoice, selectPackage } from './select-package.ts'
import type { OperatorRequest } from './select-request.ts'
import type { CatalogSelection, KeptPackage } from './selection.ts'

interface SelectOptions {
  /**
   * What becomes of a package that cannot be selected. `throw`: an error, which names all of them. `leave-out`: it is left
   * out, and a finding of severity error says why.
   */
  readonly onProblem?: 'throw' | 'leave-out'
}

type SlimChoice = Pick<PackageChoice, 'kept' | 'reasons' | 'findings'>

/** What a selection reads of its request: an entry of `operators:`. */
export type SelectionRequest = Pick<OperatorRequest, 'packages' | 'full'>

/**
 * @throws KnownError CATALOG_PACKAGE_UNKNOWN, CATALOG_CHANNEL_UNKNOWN, CATALOG_SELECTION_INVALID; where several packages
 * have problems, the code of the first, and all of them in the message
 */
export function selectBundles(
  catalog: Catalog,
  request: SelectionRequest,
  options: SelectOptions = {},
): CatalogSelection {
  const problems: KnownError[] = []
  const choices = new Map<string, SlimChoice>()
  for (const name of wantedPackages(catalog, request, problems)) {
    try {
      // Not its channels: they weigh most, and nobody asks for them here.
      const { kept, reasons, findings } = selectOne(catalog, name, request)
      choices.set(name, { kept, reasons, findings })
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      problems.push(error)
    }
  }
  const [first, ...others] = problems
  if (first !== undefined && options.onProblem !== 'leave-out')
    throw others.length === 0 ? first : together(first, others)
  const isWhole = (request.packages?.length ?? 0) === 0 && request.full === true && problems.length === 0
  return {
    kept: new Map([...choices].map(([name, { kept }]): [string, KeptPackage] => [name, kept])),
    isWhole,
    findings: [
      ...problems.map(problemFinding),
      ...[...choices.values()].flatMap(({ findings }) => findings),
      ...deprecationFindings(choices),
    ],
    why: (packageName, bundle) => {
      const choice = choices.get(packageName)
      if (choice !== undefined) return choice.reasons.get(bundle)
      if (!catalog.packages.get(packageName)?.bundles.has(bundle)) return undefined
      return { isKept: false, because: 'package', text: `package ${packageName} is not asked for` }
    },
  }
}

/** What is kept of one package of the catalog, as `request` wants it. */
export function selectOne(catalog: Catalog, name: string, request: SelectionRequest): PackageChoice {
  const of = catalog.packages.get(name)
  if (of === undefined) throw unknownPackage(name, catalog)
  const own = request.packages?.find((wanted) => wanted.name === name)
  return selectPackage(of, { request: own, isFull: request.full === true })
}

/** In the order of the catalog; the names that it does not have become problems. */
function wantedPackages(catalog: Catalog, request: SelectionRequest, problems: KnownError[]): string[] {
  const names = new Set(request.packages?.map(({ name }) => name) ?? [])
  if (names.size === 0) return [...catalog.packages.keys()]
  for (const name of names) if (!catalog.packages.has(name)) problems.push(unknownPackage(name, catalog))
  return [...catalog.packages.keys()].filter((name) => names.has(name))
}

function together(first: KnownError, others: readonly KnownError[]): KnownError {
  const message = [first, ...others].map((problem) => `${problem.message}\n  ${problem.hint}`).join('\n')
  return new KnownError(first.code, message, {
    hint: `Mend these ${others.length + 1} in the configuration and run again; nothing was changed.`,
    details: { ...first.details, problems: others.length + 1 },
    cause: first,
  })
}

function problemFinding({ code, message, hint }: KnownError): Finding {
  const [summary = '', ...evidence] = message.split('\n')
  const id = `catalog.${code.toLowerCase().replace('catalog_', '').replaceAll('_', '-')}`
  return finding({
    id,
    severity: 'error',
    summary,
    remedy: hint,
    ...(evidence.length > 0 && { evidence: evidence.join('\n') }),
  })
}

function deprecationFindings(choices: ReadonlyMap<string, SlimChoice>): Finding[] {
  return [...choices.values()].flatMap(({ kept }) =>
    kept.deprecations.map(({ reference: { schema, name }, message }) => {
      const what = name === undefined || schema === 'olm.package' ? '' : `${schema.replace('olm.', '')} "${name}" of `
      const summary = `Deprecated: ${what}package "${kept.name}": ${message.replaceAll(/\s+/g, ' ').trim()}`
      return finding({ id: 'catalog.deprecated', severity: 'warning', summary })
    }),
  )
}

/**
 * What the kept bundles require of other operators: whether it is kept, could be taken, or is in none of the catalogs.
 *
 * oc-mirror v2 looks at none of it, and operators such as OpenShift Data Foundation then wait for others without end. What
 * is taken leads to its own requirements, until there are no new ones.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { type Candidate, candidatesOf, searchCandidates } from './dependencies-candidates.ts'
import { meets, requirementText } from './dependencies-requirement.ts'
import { takeBundle } from './dependencies-take.ts'
import type { BundleMeta, Catalog, Requirement } from './meta.ts'
import type { OperatorRequest } from './select-request.ts'
import type { CatalogSelection } from './selection.ts'

/** What to do about a requirement that nothing kept meets. */
export type DependencyPolicy = NonNullable<OperatorRequest['dependencies']>

export interface SelectedCatalog {
  /** For messages: the image of the catalog. */
  readonly name: string
  readonly catalog: Catalog
  readonly selection: CatalogSelection
  readonly policy: DependencyPolicy
}

/** A bundle of one of the catalogs. */
interface BundlePlace {
  readonly catalog: string
  readonly package: string
  readonly bundle: string
}

/**
 * `kept`: a kept bundle meets it. `taken`: one was added. `offered`: `by` would meet it, and was not added. `missing`:
 * nothing in the catalogs meets it. `unjudged`: it hangs on an expression that is not evaluated.
 */
export interface Dependency {
  readonly from: BundlePlace
  readonly requirement: string
  readonly state: 'kept' | 'taken' | 'offered' | 'missing' | 'unjudged'
  readonly by?: BundlePlace & { readonly channel?: string }
  /** Of the catalog whose bundle asked first: what is taken for it goes by the same. */
  readonly policy: DependencyPolicy
}

export interface ResolvedDependencies {
  /** In the order of the catalogs, with what was taken. */
  readonly selections: readonly CatalogSelection[]
  readonly dependencies: readonly Dependency[]
  readonly findings: readonly Finding[]
}

/** What the configuration says; `skipDependencies: true` is oc-mirror’s word for ignoring them. */
export function dependencyPolicy(
  request: Pick<OperatorRequest, 'dependencies' | 'skipDependencies'>,
): DependencyPolicy {
  return request.dependencies ?? (request.skipDependencies === true ? 'ignore' : 'warn')
}

/**
 * Resolves the requirements of every kept bundle against all the catalogs together, its own one first.
 *
 * @throws KnownError CATALOG_SELECTION_INVALID where the policy of a catalog is `fail` and a requirement is not met
 */
export function resolveDependencies(catalogs: readonly SelectedCatalog[]): ResolvedDependencies {
  const state: State = {
    catalogs,
    selections: catalogs.map(({ selection }) => selection),
    candidates: catalogs.map(() => undefined),
    answers: new Map(),
    queue: catalogs.flatMap((one, index) =>
      one.policy === 'ignore' ? [] : allKept(one).map((bundle) => ({ index, bundle, policy: one.policy })),
    ),
  }
  const dependencies: Dependency[] = []
  const seen = new Set<BundleMeta>()
  for (let next = state.queue.shift(); next !== undefined; next = state.queue.shift()) {
    if (seen.has(next.bundle)) continue
    seen.add(next.bundle)
    for (const requirement of next.bundle.requires) dependencies.push(resolveOne(state, next, requirement))
  }
  refuseUnmet(dependencies)
  return { selections: state.selections, dependencies, findings: dependencyFindings(dependencies) }
}

interface Waiting {
  /** Of the catalog. */
  readonly index: number
  readonly bundle: BundleMeta
  readonly policy: DependencyPolicy
}

interface State {
  readonly catalogs: readonly SelectedCatalog[]
  readonly selections: CatalogSelection[]
  /** Made when they are first needed. */
  readonly candidates: (readonly Candidate[] | undefined)[]
  readonly queue: Waiting[]
  /** By catalog and requirement, what was found last; emptied when something is taken. Many bundles require the same. */
  readonly answers: Map<string, Answer>
}

type Answer = Pick<Dependency, 'state' | 'by'>

function allKept({ catalog, selection }: Pick<SelectedCatalog, 'catalog' | 'selection'>): BundleMeta[] {
  return [...selection.kept.values()].flatMap(({ name, bundles }) =>
    bundles.flatMap((bundle) => catalog.packages.get(name)?.bundles.get(bundle) ?? []),
  )
}

function resolveOne(state: State, waiting: Waiting, requirement: Requirement): Dependency {
  const { index, bundle, policy } = waiting
  const text = requirementText(requirement)
  const key = JSON.stringify([index, policy, requirement])
  const answer = state.answers.get(key) ?? answerFor(state, waiting, requirement)
  if (answer.state !== 'taken') state.answers.set(key, answer)
  return { from: placeOf(state, index, bundle), requirement: text, policy, ...answer }
}

function answerFor(state: State, { index, bundle, policy }: Waiting, requirement: Requirement): Answer {
  const order = [index, ...state.catalogs.keys().filter((other) => other !== index)]
  let isMaybe = false
  for (const at of order) {
    const kept = keptBy(state, at, requirement)
    if (kept.by !== undefined) return { state: 'kept', by: kept.by }
    isMaybe ||= kept.isMaybe
  }
  for (const at of order) {
    const { found, isMaybe: mightBe } = searchCandidates(candidatesAt(state, at), requirement)
    isMaybe ||= mightBe
    if (found === undefined) continue
    const by = { ...placeOf(state, at, found.bundle), channel: found.channel }
    if (policy !== 'take') return { state: 'offered', by }
    const why = `required by ${bundle.name} of package ${bundle.package}: ${requirementText(requirement)}`
    take(state, { at, found, text: why })
    return { state: 'taken', by }
  }
  return { state: isMaybe ? 'unjudged' : 'missing' }
}

function keptBy(state: State, at: number, requirement: Requirement): { by?: BundlePlace; isMaybe: boolean } {
  const [one, selection] = [state.catalogs[at], state.selections[at]]
  let isMaybe = false
  if (one === undefined || selection === undefined) return { isMaybe }
  for (const bundle of allKept({ catalog: one.catalog, selection })) {
    const judgement = meets(bundle, requirement)
    if (judgement === 'yes') return { by: placeOf(state, at, bundle), isMaybe }
    if (judgement === 'unknown') isMaybe = true
  }
  return { isMaybe }
}

function candidatesAt(state: State, at: number): readonly Candidate[] {
  const catalog = state.catalogs[at]?.catalog
  const candidates = state.candidates[at] ?? (catalog === undefined ? [] : candidatesOf(catalog))
  state.candidates[at] = candidates
  return candidates
}

interface Take {
  readonly at: number
  readonly found: Candidate
  readonly text: string
}

function take(state: State, { at, found, text }: Take): void {
  const of = state.catalogs[at]?.catalog.packages.get(found.bundle.package)
  const selection = state.selections[at]
  if (of === undefined || selection === undefined) return
  const taken = takeBundle(selection, { ...found, of, text })
  state.selections[at] = taken.selection
  state.answers.clear()
  for (const name of taken.bundles) {
    const bundle = of.bundles.get(name)
    if (bundle !== undefined) state.queue.push({ index: at, bundle, policy: 'take' })
  }
}

function placeOf({ catalogs }: State, at: number, bundle: BundleMeta): BundlePlace {
  return { catalog: catalogs[at]?.name ?? '', package: bundle.package, bundle: bundle.name }
}

function refuseUnmet(dependencies: readonly Dependency[]): void {
  const strict = dependencies.filter(
    ({ policy, state }) => policy === 'fail' && (state === 'offered' || state === 'missing'),
  )
  const unmet = byRequirement(strict)
  const [first] = unmet
  if (first === undefined) return
  const message = `Kept operators require ${unmet.length === 1 ? 'something' : `${unmet.length} things`} that nothing kept gives:\n${unmet.map((group) => `    ${unmetText(group)}`).join('\n')}`
  throw new KnownError('CATALOG_SELECTION_INVALID', message, {
    hint: 'Add these packages to the configuration, or write dependencies: take beside the catalog to have them added, or dependencies: warn to go without them.',
    details: { package: first[0].from.package, bundle: first[0].from.bundle, unmet: unmet.length },
  })
}

/** Dependencies of one package on one thing, the first of them never absent. */
type Group = readonly [Dependency, ...Dependency[]]

function byRequirement(dependencies: readonly Dependency[]): Group[] {
  const groups = new Map<string, [Dependency, ...Dependency[]]>()
  for (const dependency of dependencies) {
    const { from, requirement, state } = dependency
    const key = JSON.stringify([from.catalog, from.package, requirement, state])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [dependency])
    else group.push(dependency)
  }
  return [...groups.values()]
}

function unmetText([{ from, requirement, state, by }, ...others]: Group): string {
  const who = `${from.bundle}${others.length > 0 ? ` and ${others.length} more` : ''} of package "${from.package}"`
  const what = `${who} require${others.length > 0 ? '' : 's'} ${requirement}`
  if (state === 'missing') return `${what}, which none of the catalogs has`
  const at = by === undefined ? '' : `${by.bundle} of package "${by.package}" (channel ${by.channel}, ${by.catalog})`
  if (state === 'taken') return `${what}: ${at} is taken for it`
  if (state === 'unjudged') return `${what}, which can only be judged in a cluster`
  return `${what}: ${at} would give it`
}

const remedies: Readonly<Record<'offered' | 'missing' | 'unjudged', string>> = {
  offered:
    'Add that package, or write dependencies: take beside the catalog; without it the operator waits in the cluster.',
  missing:
    'Add the catalog that has it to operators; without it the operator waits in the cluster, unless something there gives it already.',
  unjudged: 'Make sure that the cluster has it.',
}

function dependencyFindings(dependencies: readonly Dependency[]): Finding[] {
  const told = dependencies.filter(({ state }) => state !== 'kept')
  return byRequirement(told).map((group) => {
    const [{ state }] = group
    const summary = unmetText(group)
    if (state === 'kept' || state === 'taken')
      return finding({ id: 'catalog.dependency-taken', severity: 'info', summary })
    const severity = state === 'unjudged' ? 'info' : 'warning'
    return finding({ id: `catalog.dependency-${state}`, severity, summary, remedy: remedies[state] })
  })
}

/**
 * A step registry from its directory: strict, every fault at once with its place, in the words of ci-tools
 * (openshift/ci-tools: pkg/load/load.go `Registry`), which stops at the first.
 */
import { statSync } from 'node:fs'
import { basename, dirname, extname, join, relative } from 'node:path'
import { type Finding, finding } from '../../errors/finding.ts'
import { readClusterProfiles } from './cluster-profiles.ts'
import { type FieldFault, type FieldPath, readShape } from './field-shape.ts'
import type { LiteralStep, StepLease, StepParameter } from './model.ts'
import type {
  Chain,
  Observer,
  Reference,
  RegisteredObserver,
  RegisteredWorkflow,
  Registry,
  RegistryKind,
} from './registry.ts'
import { isUtf8File, type ListedFile, listRegistryFiles, readMaybeGzip } from './registry-files.ts'
import { fileShapes } from './registry-shapes.ts'
import { readYaml, type YamlPlace, yamlPlaces } from './registry-yaml.ts'
import { type RawSteps, splitConfiguration, splitStep } from './test-steps.ts'

export interface LoadRegistryOptions {
  /** All files in one directory, as a ConfigMap has them: names are not held against paths. */
  readonly flat?: boolean
  /** Scripts are not read, and need not be there: `commands` stays the name of the file. */
  readonly withoutScripts?: boolean
}

interface Loading {
  readonly root: string
  readonly options: LoadRegistryOptions
  readonly references: Map<string, Reference>
  readonly chains: Map<string, Chain>
  readonly workflows: Map<string, RegisteredWorkflow>
  readonly observers: Map<string, RegisteredObserver>
  readonly findings: Finding[]
}

/** One YAML file of the registry. */
interface Opened {
  readonly path: string
  readonly name: string
  readonly kind: RegistryKind
  readonly text: string
  /** What `as` has to be; undefined in a flat registry. */
  readonly prefix: string | undefined
}

interface Body {
  readonly as?: string
  readonly name?: string
  readonly documentation?: string
  readonly commands?: string
  readonly steps?: RawSteps | readonly RawSteps[]
  readonly env?: readonly StepParameter[]
  readonly leases?: readonly StepLease[]
}

/** @throws KnownError FILE_UNREADABLE where `root` is no directory, STEP_REGISTRY_INVALID where it is the checkout around a registry */
export function loadRegistry(root: string, options: LoadRegistryOptions = {}): Registry {
  const { files, clusterProfiles } = listRegistryFiles(root)
  const loading: Loading = {
    root,
    options,
    references: new Map(),
    chains: new Map(),
    workflows: new Map(),
    observers: new Map(),
    findings: [],
  }
  for (const file of files) loadFile(file, loading)
  const { references, chains, workflows, observers, findings } = loading
  const profiles = clusterProfiles === undefined ? undefined : readClusterProfiles(clusterProfiles, findings)
  const hasScripts = options.withoutScripts !== true
  return { root, references, chains, workflows, observers, clusterProfiles: profiles, hasScripts, findings }
}

const suffix = /-(ref|chain|workflow|observer)\.yaml$/

function loadFile({ path, name, folders }: ListedFile, loading: Loading): void {
  if (extname(name) === '.md' || name === 'OWNERS') return
  const prefix = loading.options.flat ? undefined : folders.join('-') || '.'
  const tell = (id: string, summary: string) => loading.findings.push(fault({ id, summary, path }))
  if (prefix !== undefined && !name.startsWith(prefix)) {
    tell('steps.file-name', `file ${shown(path, loading)} has incorrect prefix. Prefix should be ${prefix}`)
    return
  }
  const [, kind] = suffix.exec(name) ?? []
  if (kind === undefined) {
    // VERSION is what a ConfigMap of the whole is stamped with.
    if (name === 'VERSION' || name.endsWith('.metadata.json') || name.endsWith(`-commands${extname(name)}`)) return
    tell('steps.file-name', `invalid file name: ${shown(path, loading)}`)
    return
  }
  const text = readMaybeGzip(path)
  const failed = failedToLoad(path, loading)
  if (text === undefined) tell('steps.unreadable', `${failed}: cannot be read`)
  else if (text.includes('\ufffd') && !isUtf8File(path)) {
    tell('steps.yaml', `${failed}: error converting YAML to JSON: yaml: invalid UTF-8`)
  } else loadYaml({ path, name, kind: kind as RegistryKind, text, prefix }, loading)
}

function loadYaml(opened: Opened, loading: Loading): void {
  const { path, kind, text } = opened
  const failed = failedToLoad(path, loading)
  const tell = (id: string, message: string, place: YamlPlace) =>
    loading.findings.push(fault({ id, summary: `${failed}: ${message}`, path, place }))
  const read = readYaml(text)
  if ('faults' in read) {
    for (const { message, ...place } of read.faults)
      tell('steps.yaml', `error converting YAML to JSON: ${message}`, place)
    return
  }
  const faults: FieldFault[] = []
  const whole = readShape(read.value, fileShapes[kind], faults) as { [name in RegistryKind]?: Body } | undefined
  const places = faults.length > 0 ? yamlPlaces(text) : undefined
  for (const { path: field, message } of faults) {
    const words = message.startsWith('json:') ? `error unmarshaling JSON: while decoding JSON: ${message}` : message
    tell('steps.field', words, places?.(field) ?? { line: 1, column: 1 })
  }
  if (faults.length === 0) register(whole?.[kind] ?? {}, opened, loading)
}

const nouns = { ref: 'reference', chain: 'chain', workflow: 'workflow', observer: 'observer' } as const

function register(body: Body, opened: Opened, loading: Loading): void {
  const { path, name: fileName, kind, prefix } = opened
  const field = kind === 'observer' ? 'name' : 'as'
  const name = body[field] ?? ''
  const tell = (id: string, summary: string, at: FieldPath) => {
    loading.findings.push(fault({ id, summary, path, place: yamlPlaces(opened.text)(at) }))
  }
  const noun = nouns[kind]
  if (prefix !== undefined && name !== prefix) {
    tell('steps.name', `name of ${noun} in file ${shown(path, loading)} should be ${prefix}`, [kind, field])
    return
  }
  if (fileName.replace(suffix, '') !== name) {
    const should = `${prefix ?? name}-${kind}.yaml`
    tell('steps.name', `filename ${fileName} does not match name of ${noun}; filename should be ${should}`, [
      kind,
      field,
    ])
    return
  }
  const documentation = body.documentation === undefined ? {} : { documentation: body.documentation }
  const registered = { name, file: path, ...documentation }
  if (kind === 'chain') {
    const steps = (body.steps as readonly RawSteps[] | undefined)?.map(splitStep) ?? []
    const { env, leases } = body
    loading.chains.set(name, { ...registered, steps, ...(env && { env }), ...(leases && { leases }) })
  } else if (kind === 'workflow') {
    const steps = splitConfiguration((body.steps ?? {}) as RawSteps)
    if (steps.workflow === undefined) loading.workflows.set(name, { ...registered, steps })
    else {
      const words = `${failedToLoad(path, loading)}: workflows cannot contain other workflows`
      tell('steps.nested-workflow', words, [kind, 'steps', 'workflow'])
    }
  } else {
    registerScript(body, { ...opened, name }, loading)
  }
}

/** A reference or an observer: what has a script. */
function registerScript(body: Body, opened: Opened, loading: Loading): void {
  const { path, kind, name, prefix } = opened
  const { documentation, ...rest } = body
  const file = body.commands ?? ''
  const tell = (id: string, summary: string) =>
    loading.findings.push(fault({ id, summary, path, place: yamlPlaces(opened.text)([kind, 'commands']) }))
  const wanted = `${prefix}-commands`
  if (prefix !== undefined && file !== `${wanted}${extname(file)}`) {
    const words = `${nouns[kind]} ${name} has invalid command file path; command should be set to ${wanted}`
    const begin = kind === 'ref' ? `${failedToLoad(path, loading)}: ` : ''
    tell('steps.script-name', `${begin}${words} (with an optional extension like .sh)`)
    return
  }
  const script = join(dirname(path), file)
  const commands = loading.options.withoutScripts ? file : readMaybeGzip(script)
  if (commands === undefined) {
    const isFolder = statSync(script, { throwIfNoEntry: false })?.isDirectory() === true
    const why = isFolder ? `read ${shown(script, loading)}: is a directory` : undefined
    const words = why ?? `open ${shown(script, loading)}: no such file or directory`
    tell('steps.script-absent', `${failedToLoad(path, loading)}: ${words}`)
    return
  }
  const registered = { name, file: path, script, ...(documentation !== undefined && { documentation }) }
  const value = { ...rest, commands }
  if (kind === 'ref') loading.references.set(name, { ...registered, step: value as LiteralStep })
  else loading.observers.set(name, { ...registered, observer: value as Observer })
}

function failedToLoad(path: string, loading: Loading): string {
  return `failed to load registry file ${shown(path, loading)}`
}

function shown(path: string, { root }: Loading): string {
  return relative(root, path) || basename(path)
}

interface Fault {
  readonly id: string
  readonly summary: string
  readonly path: string
  readonly place?: YamlPlace
}

function fault({ id, summary, path, place }: Fault): Finding {
  return finding({ id, severity: 'error', summary, where: { file: path, ...(place ?? { line: 1, column: 1 }) } })
}

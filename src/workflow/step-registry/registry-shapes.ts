/** The fields of each kind of file (openshift/ci-tools: pkg/api/types.go). */
import type { FieldShape } from './field-shape.ts'

const text: FieldShape = { kind: 'text' }
const string: FieldShape = { kind: 'string' }
const boolean: FieldShape = { kind: 'boolean' }
const duration: FieldShape = { kind: 'duration' }
const textMap = map(text)
const texts = list(text)

function list(of: FieldShape): FieldShape {
  return { kind: 'list', of }
}

function map(of: FieldShape): FieldShape {
  return { kind: 'map', of }
}

function fields(inner: Readonly<Record<string, FieldShape>>): FieldShape {
  return { kind: 'fields', fields: inner }
}

/** Of a list in a struct of its own (`text`), or within a step (`string`). */
function parametersOf(kind: FieldShape): FieldShape {
  return list(fields({ name: kind, default: kind, documentation: kind }))
}

function leasesOf(kind: FieldShape): FieldShape {
  return list(fields({ resource_type: kind, env: kind, count: { kind: 'count' } }))
}

function dnsConfigOf(kind: FieldShape): FieldShape {
  return fields({ nameservers: list(kind), searches: list(kind) })
}

const image = fields({ namespace: string, name: string, tag: string, as: string })
const resources = fields({ requests: map(string), limits: map(string) })
const credentials = list(
  fields({
    as: string,
    bundle: string,
    collection: string,
    field: string,
    group: string,
    mount_path: string,
    namespace: string,
    name: string,
  }),
)

const stepFields = {
  as: string,
  from: string,
  from_image: image,
  nested_podman: boolean,
  commands: string,
  resources,
  timeout: duration,
  grace_period: duration,
  credentials,
  env: parametersOf(string),
  dependencies: list(fields({ name: string, env: string })),
  dnsConfig: dnsConfigOf(string),
  leases: leasesOf(string),
  optional_on_success: boolean,
  best_effort: boolean,
  no_kubeconfig: boolean,
  cli: string,
  observers: list(string),
  run_as_script: boolean,
  node_architecture: string,
} as const satisfies Record<string, FieldShape>

const testSteps = list(fields({ ...stepFields, ref: text, chain: text }))

/** `steps` of a test in a ci-operator config, and of a workflow. */
export const testConfigurationShape: FieldShape = fields({
  cluster_profile: text,
  pre: testSteps,
  test: testSteps,
  post: testSteps,
  workflow: text,
  env: textMap,
  dependencies: textMap,
  dnsConfig: dnsConfigOf(text),
  leases: leasesOf(text),
  allow_skip_on_success: boolean,
  allow_best_effort_post_steps: boolean,
  observers: fields({ enable: texts, disable: texts }),
  dependency_overrides: textMap,
  node_architecture: text,
  node_architecture_overrides: textMap,
})

const observerFields = {
  name: string,
  from: string,
  from_image: image,
  commands: string,
  resources,
  timeout: duration,
  grace_period: duration,
  env: parametersOf(string),
} as const satisfies Record<string, FieldShape>

/** The whole file, by its kind. */
export const fileShapes = {
  ref: fields({ ref: fields({ ...stepFields, documentation: text }) }),
  chain: fields({
    chain: fields({ as: text, steps: testSteps, documentation: text, env: parametersOf(text), leases: leasesOf(text) }),
  }),
  workflow: fields({ workflow: fields({ as: text, steps: testConfigurationShape, documentation: text }) }),
  observer: fields({ observer: fields({ ...observerFields, documentation: text }) }),
} as const satisfies Record<string, FieldShape>

/** Order in which Go prints the fields of a step and of an observer. */
export const printedOrder = {
  step: Object.keys(stepFields),
  observer: Object.keys(observerFields),
} as const satisfies Record<string, readonly string[]>

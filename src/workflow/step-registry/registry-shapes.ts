/** The fields of each kind of file (openshift/ci-tools: pkg/api/types.go). */
import type { FieldShape } from './field-shape.ts'

const text: FieldShape = { kind: 'text' }
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

const parameters = list(fields({ name: text, default: text, documentation: text }))
const leases = list(fields({ resource_type: text, env: text, count: { kind: 'count' } }))
const dnsConfig = fields({ nameservers: texts, searches: texts })
const image = fields({ namespace: text, name: text, tag: text, as: text })
const resources = fields({ requests: textMap, limits: textMap })
const credentials = list(
  fields({
    as: text,
    bundle: text,
    collection: text,
    field: text,
    group: text,
    mount_path: text,
    namespace: text,
    name: text,
  }),
)

const stepFields = {
  as: text,
  from: text,
  from_image: image,
  nested_podman: boolean,
  commands: text,
  resources,
  timeout: duration,
  grace_period: duration,
  credentials,
  env: parameters,
  dependencies: list(fields({ name: text, env: text })),
  dnsConfig,
  leases,
  optional_on_success: boolean,
  best_effort: boolean,
  no_kubeconfig: boolean,
  cli: text,
  observers: texts,
  run_as_script: boolean,
  node_architecture: text,
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
  dnsConfig,
  leases,
  allow_skip_on_success: boolean,
  allow_best_effort_post_steps: boolean,
  observers: fields({ enable: texts, disable: texts }),
  dependency_overrides: textMap,
  node_architecture: text,
  node_architecture_overrides: textMap,
})

const observerFields = {
  name: text,
  from: text,
  from_image: image,
  commands: text,
  resources,
  timeout: duration,
  grace_period: duration,
  env: parameters,
} as const satisfies Record<string, FieldShape>

/** The whole file, by its kind. */
export const fileShapes = {
  ref: fields({ ref: fields({ ...stepFields, documentation: text }) }),
  chain: fields({
    chain: fields({ as: text, steps: testSteps, documentation: text, env: parameters, leases }),
  }),
  workflow: fields({ workflow: fields({ as: text, steps: testConfigurationShape, documentation: text }) }),
  observer: fields({ observer: fields({ ...observerFields, documentation: text }) }),
} as const satisfies Record<string, FieldShape>

/** Order in which Go prints the fields of a step and of an observer. */
export const printedOrder = {
  step: Object.keys(stepFields),
  observer: Object.keys(observerFields),
} as const satisfies Record<string, readonly string[]>

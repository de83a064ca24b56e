/** What containers of both forms of export have in common: variables that arrive as they are, secrets, memory. */
import type { NumberedStep } from './exportable-workflow.ts'
import { objectName } from './object-name.ts'

export interface EnvironmentVariable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export interface Volume {
  readonly name: string
  readonly [source: string]: unknown
}

export interface Mount {
  readonly name: string
  readonly mountPath: string
  readonly subPath?: string
  readonly readOnly?: boolean
}

/**
 * The variables of a container whose values reach the program byte for byte.
 *
 * The kubelet replaces `$(NAME)` and `$$` (k8s.io/kubernetes third_party/forked/golang/expansion), and Tekton before it
 * `$(params.x)` and its like, which `$$` does not keep it from (tektoncd/pipeline pkg/substitution/replacements.go). So
 * the dollar of such a value is a variable of its own.
 */
export function literalVariables(values: readonly { name: string; value: string }[]): readonly EnvironmentVariable[] {
  const isSpecial = (value: string) => /\$[($]/.test(value)
  const literal = values.map(({ name, value }) => ({
    name,
    value: isSpecial(value) ? value.replaceAll('$', `$(${dollar})`) : value,
  }))
  return values.some(({ value }) => isSpecial(value)) ? [{ name: dollar, value: '$' }, ...literal] : literal
}

const dollar = 'SALLYPORT_DOLLAR'

/** Memory for /dev/shm, as a step asks for it; no resource of Kubernetes (openshift/ci-tools: pkg/api/constant.go). */
export const shmResource = 'ci-operator.openshift.io/shm'

/** Its secrets, the memory for /dev/shm, and its script where that is mounted from a ConfigMap. */
export function stepVolumes(
  step: NumberedStep,
  { configMap, folder }: { configMap: string | undefined; folder: string },
): { volumes: readonly Volume[]; mounts: readonly Mount[] } {
  const secrets = step.secretMounts.map(({ secret, mountPath }) => ({
    volume: { name: objectName(`secret-${secret}`), secret: { secretName: secret } },
    mount: { name: objectName(`secret-${secret}`), mountPath, readOnly: true },
  }))
  const scripts = configMap === undefined ? [] : [scriptVolume(configMap, folder)]
  const shm = step.resources.requests?.[shmResource]
  const memory = shm === undefined ? [] : [memoryVolume(step.number, shm)]
  const all = [...secrets, ...scripts, ...memory]
  return { volumes: all.map(({ volume }) => volume), mounts: all.map(({ mount }) => mount) }
}

function scriptVolume(configMap: string, folder: string): { volume: Volume; mount: Mount } {
  const name = objectName(`script-${configMap}`)
  return {
    volume: { name, configMap: { name: configMap, defaultMode: 0o755 } },
    mount: { name, mountPath: folder, readOnly: true },
  }
}

function memoryVolume(number: string, sizeLimit: string): { volume: Volume; mount: Mount } {
  const name = `shm-${number}`
  return { volume: { name, emptyDir: { medium: 'Memory', sizeLimit } }, mount: { name, mountPath: '/dev/shm' } }
}

/** Requests and limits that Kubernetes knows. */
export function containerResources({
  resources,
}: Pick<NumberedStep, 'resources'>): Record<string, unknown> | undefined {
  const known = Object.entries(resources).flatMap(([kind, amounts]) => {
    const kept = Object.entries(amounts as Record<string, string>).filter(([name]) => name !== shmResource)
    return kept.length > 0 ? [[kind, Object.fromEntries(kept)] as const] : []
  })
  return known.length > 0 ? Object.fromEntries(known) : undefined
}

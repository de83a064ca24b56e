/** Scripts that do not stand in the object that runs them. */
import { KnownError } from '../../errors/known-error.ts'
import { type NumberedStep, scriptText } from './exportable-workflow.ts'
import { objectName, shortHash } from './object-name.ts'

export interface ScriptConfigMap {
  readonly apiVersion: 'v1'
  readonly kind: 'ConfigMap'
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly immutable: true
  readonly data: Readonly<Record<string, string>>
}

/** An object in etcd; Kubernetes refuses the data of a ConfigMap beyond it (pkg/apis/core/validation `MaxSecretSize`). */
const maxDataBytes = 1024 * 1024

/**
 * Named for its content, so that another text never takes the place of one that runs.
 *
 * @throws KnownError EXPORT_IMPOSSIBLE where Kubernetes would not take it
 */
export function scriptConfigMap(
  workflow: string,
  step: NumberedStep,
  files: Readonly<Record<string, string>> = {},
): ScriptConfigMap {
  const data = { ...files, script: scriptText(step) }
  const sizeBytes = Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (sizeBytes >= maxDataBytes) {
    throw new KnownError(
      'EXPORT_IMPOSSIBLE',
      `the script of ${step.id} has ${sizeBytes} bytes, a ConfigMap takes ${maxDataBytes}`,
    )
  }
  const name = objectName(
    `${objectName(`${objectName(workflow, 30)}-${step.label}`, 54)}-${shortHash(JSON.stringify(data))}`,
  )
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, immutable: true, data }
}

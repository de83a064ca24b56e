/**
 * What runs in a container around a step: what the entrypoint of ci-operator does there (openshift/ci-tools:
 * cmd/entrypoint-wrapper), as far as it is needed.
 */
import { type NumberedStep, scriptText } from './exportable-workflow.ts'

/** Where the script of a step is mounted, when it does not stand in the wrapper. */
export const scriptFolder = '/var/run/sallyport/step'

export interface ContainerScriptOptions {
  /** Shell commands before the step. */
  readonly before?: readonly string[]
  /** The script is the file `script` in {@link scriptFolder}. */
  readonly isMounted: boolean
}

/**
 * A bash script that gives the step its directories, its time-out and its grace.
 *
 * Expects RUN_ID, SHARED_DIR and ARTIFACT_DIR in its environment. An image without `timeout` (coreutils) has only the
 * limit that the cluster puts on the whole.
 */
export function containerScript(step: NumberedStep, { before = [], isMounted }: ContainerScriptOptions): string {
  const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000))
  return `#!/bin/bash
# Around ${step.label}: as ci-operator does.
set -eu
${before.map((line) => `${line}\n`).join('')}mkdir -p "$SHARED_DIR" "$ARTIFACT_DIR"
[ -w "\${HOME:-/}" ] || export HOME=/tmp
UNIQUE_HASH=$(printf %s "$RUN_ID" | sha256sum | cut -c1-5)
export UNIQUE_HASH BUILD_ID=$RUN_ID KUBECONFIG=$SHARED_DIR/kubeconfig KUBEADMIN_PASSWORD_FILE=$SHARED_DIR/kubeadmin-password
limit=(timeout -k ${seconds(step.graceMs)} ${seconds(step.timeoutMs)})
command -v timeout >/dev/null || limit=(env)
${isMounted ? mounted(step) : inline(step)}`
}

function mounted({ isProgram }: NumberedStep): string {
  return `exec "\${limit[@]}" ${isProgram ? '' : '/bin/bash '}${scriptFolder}/script\n`
}

function inline(step: NumberedStep): string {
  const text = scriptText(step)
  const body = text.endsWith('\n') ? text : `${text}\n`
  const end = hereDocumentEnd(body, `END_OF_${step.number}`)
  const read = `IFS= read -r -d '' script <<'${end}' || :\n${body}${end}\n`
  if (!step.isProgram) return `${read}exec "\${limit[@]}" /bin/bash -c "$script"\n`
  return `${read}file=$(mktemp)\nprintf %s "$script" >"$file"\nchmod 700 "$file"\nexec "\${limit[@]}" "$file"\n`
}

/** A word that is no line of the text. */
export function hereDocumentEnd(text: string, word: string): string {
  return text.split('\n').includes(word) ? hereDocumentEnd(text, `${word}_`) : word
}

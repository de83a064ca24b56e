import { join } from 'node:path'
import type { LiteralStep } from '../step-registry/model.ts'

/** In front of every script that is no program by itself (openshift/ci-tools: pkg/steps/multi_stage `CommandPrefix`). */
const commandPrefix = '#!/bin/bash\nset -eu\n'

/** What Linux takes as one argument at most (MAX_ARG_STRLEN), and a little less. */
const maxArgumentBytes = 128 * 1024 - 64

export interface Script {
  readonly argv: readonly string[]
  /** What has to be in the file of the script; undefined where it needs none. */
  readonly file?: string
}

/** A script is an argument of bash, as in ci-operator; a file where it is a program by itself, or too long. */
export function scriptOf({ commands, run_as_script: isProgram }: LiteralStep, path: string): Script {
  if (isProgram === true) return { argv: [path], file: commands }
  const text = `${commandPrefix}${commands}`
  if (Buffer.byteLength(text) < maxArgumentBytes) return { argv: ['/bin/bash', '-c', text] }
  return { argv: ['/bin/bash', path], file: text }
}

/** The directories of one attempt; all of them go when it has ended. */
export interface AttemptPlaces {
  readonly root: string
  readonly shared: string
  readonly temporary: string
  readonly work: string
  readonly kubeconfig: string
  readonly script: string
}

export function attemptPlaces(state: string, { as }: LiteralStep, attempt: string): AttemptPlaces {
  const root = join(state, attempt)
  return {
    root,
    shared: join(root, 'shared'),
    temporary: join(root, 'tmp'),
    work: join(root, 'work'),
    kubeconfig: join(root, 'kubeconfig'),
    script: join(root, as),
  }
}

/** Both phases of a deletion inside the test process: the flows themselves, with a client whose waits cost nothing. */
import { readFile } from 'node:fs/promises'
import { readDeleteImageSetConfiguration } from '../src/config/delete-image-set-configuration.ts'
import { type GeneratedDeletion, generateDeletion } from '../src/flows/delete-generate.ts'
import { type DeleteListedRequest, deleteListed, type ListedDeletion } from '../src/flows/delete-listed.ts'
import { parseMirrorTarget } from '../src/mirror/destination.ts'
import { workspaceAt } from '../src/mirror/workspace.ts'
import { parseDeleteImageList } from '../src/openshift/delete-image-list.ts'
import type { RegistryClient } from '../src/remote/client.ts'
import type { Cleanup } from './temp-dir.ts'
import { testClient } from './test-client.ts'

export interface DeleteRunOptions {
  /** `docker://HOST[:PORT]/PATH` */
  readonly target: string
  /** Directory of the workspace. */
  readonly workspace: string
  readonly keepFor?: readonly string[]
  readonly withSignatures?: boolean
  readonly signal?: AbortSignal
  readonly registry?: RegistryClient
}

export interface GenerateRunOptions extends DeleteRunOptions {
  /** Text of a DeleteImageSetConfiguration. */
  readonly config: string
  readonly id?: string
  readonly v1Names?: boolean
}

export interface ListedRunOptions extends DeleteRunOptions {
  /** Path of the list. */
  readonly list: string
  readonly isDryRun?: boolean
  readonly onEvent?: DeleteListedRequest['onEvent']
}

export async function runGenerate(t: Cleanup, options: GenerateRunOptions): Promise<GeneratedDeletion> {
  const { config, id, v1Names = false } = options
  return generateDeletion({
    ...requestOf(t, options),
    config: readDeleteImageSetConfiguration({ file: 'disc.yaml', text: config }).configuration,
    configText: config,
    v1Names,
    ...(id !== undefined && { id }),
  })
}

export async function runListed(t: Cleanup, options: ListedRunOptions): Promise<ListedDeletion> {
  const { list, isDryRun = false, onEvent = () => undefined } = options
  const items = parseDeleteImageList(await readFile(list, 'utf8'), list)
  return deleteListed({ ...requestOf(t, options), items, isDryRun, onEvent })
}

function requestOf(t: Cleanup, options: DeleteRunOptions) {
  const { target, workspace, keepFor = [], withSignatures = false, signal, registry } = options
  return {
    target: parseMirrorTarget(target),
    workspace: workspaceAt(workspace, '/'),
    registry: registry ?? testClient(t).client,
    keepFor,
    withSignatures,
    signal: signal ?? new AbortController().signal,
  }
}

/** Text of a DeleteImageSetConfiguration. */
export function deleteSetText(options: {
  release?: string
  additional?: readonly { readonly name: string }[]
  graph?: boolean
}): string {
  const { release, additional = [], graph } = options
  const platform = { ...(release !== undefined && { release }), ...(graph !== undefined && { graph }) }
  const section = {
    ...((release ?? graph) !== undefined && { platform }),
    additionalImages: additional.map(({ name }) => ({ name })),
  }
  const kind = 'DeleteImageSetConfiguration'
  return JSON.stringify({ kind, apiVersion: 'mirror.openshift.io/v2alpha1', delete: section }, null, 1)
}

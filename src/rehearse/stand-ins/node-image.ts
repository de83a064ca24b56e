/** `ostree` and `rpm-ostree`: the node image, which hosts of 4.19 and later fetch before anything else. */
import type { StandInCall } from '../sandbox/sandbox.ts'
import type { Answer } from './answer.ts'
import type { StandInWorld } from './world.ts'

/** The commit that a container image becomes (ostreedev/ostree-rs-ext `lib/src/container/store.rs`). */
const importedRef = 'ostree/container/image/docker_3A__2F__2F_node-image'

export async function answerOstree({ args }: StandInCall, world: StandInWorld): Promise<Answer> {
  const reference = args.find((word) => word.includes('docker://'))?.replace(/^.*docker:\/\//, '')
  if (args.includes('pull') && reference !== undefined) return pullNodeImage(reference, world)
  if (args[0] === 'refs') return { stdout: args.includes('--create') ? '' : `${importedRef}\n` }
  if (args[0] !== 'checkout') return {}
  const folder = args.findLast((word) => word.startsWith('/') && !word.includes('='))
  return folder === undefined ? {} : { folders: [`${folder}/usr/lib/modules`, `${folder}/usr/etc`] }
}

async function pullNodeImage(reference: string, world: StandInWorld): Promise<Answer> {
  const pull = await world.pull(reference)
  if (pull.kind === 'pulled') return { stdout: `Wrote: ${reference}\n` }
  const why = pull.message.replace(/^initializing source docker:\/\/\S+: /, '')
  return { stderr: `error: Performing OCI image import: failed to invoke method OpenImage: ${why}\n`, status: 1 }
}

/** `rpm-ostree status --json`: the image that the machine was booted from, of which the scripts print the version. */
export function answerRpmOstree({ args }: StandInCall): Answer {
  if (!args.includes('--json')) return {}
  return {
    stdout: `${JSON.stringify({ deployments: [{ booted: true, version: 'rehearsal', checksum: '0'.repeat(64) }] })}\n`,
  }
}

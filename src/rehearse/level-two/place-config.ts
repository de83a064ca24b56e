/** What a config makes, in the tree of the sandbox, and what the image of the host brings that its scripts count on. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode } from '../../errors/known-error.ts'
import type { IgnitionConfig } from '../../ignition/config.ts'
import { materialise } from '../materialise/materialise.ts'

/** Of Red Hat CoreOS, which scripts write to without making them. */
const imageFolders = `etc/containers etc/crio etc/issue.d etc/kubernetes etc/sysconfig etc/systemd/system etc/ssl etc/pki
  home/core opt ostree/repo/tmp run/systemd sysroot tmp usr/local/bin usr/local/sbin var/home var/lib var/log var/run var/tmp`

/** Files of that image which scripts read or change. */
const imageFiles: Readonly<Record<string, string>> = {
  'etc/crio/crio.conf': '[crio.image]\npause_image = ""\npause_command = "/pause"\n',
  'etc/hosts': '127.0.0.1 localhost\n',
}

/** @throws KnownError where the config cannot be made, as on the machine: IGNITION_INVALID, IGNITION_REMOTE, FILE_EXISTS */
export async function placeConfig(config: IgnitionConfig, root: string, signal: AbortSignal): Promise<void> {
  for (const folder of imageFolders.split(/\s+/)) await mkdir(join(root, folder), { recursive: true })
  // Scripts run as root, and as nobody else.
  const { passwd: _, ...rest } = config
  await materialise(rest, root, { owners: 'ignore', isIntoExisting: true, signal })
  for (const [path, text] of Object.entries(imageFiles)) {
    await writeFile(join(root, path), text, { flag: 'wx' }).catch((error: unknown) => {
      if (!hasSystemCode(error, 'EEXIST')) throw error
    })
  }
}

/** What a config makes, in the tree of the sandbox, and the folders that the image of the host brings. */
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { IgnitionConfig } from '../../ignition/config.ts'
import { inlineFile } from '../../ignition/contents.ts'

/** Of Red Hat CoreOS, which scripts write to without making them. */
const imageFolders = `etc/containers etc/crio etc/issue.d etc/kubernetes etc/sysconfig etc/systemd/system etc/ssl etc/pki
  home/core opt ostree/repo/tmp run/systemd sysroot tmp usr/local/bin usr/local/sbin var/home var/lib var/log var/run var/tmp`

/** Files of that image which scripts change. */
const imageFiles: Readonly<Record<string, string>> = {
  'etc/crio/crio.conf': '[crio.image]\npause_image = ""\npause_command = "/pause"\n',
  'etc/hosts': '127.0.0.1 localhost\n',
}

export async function placeConfig({ storage, systemd }: IgnitionConfig, root: string): Promise<void> {
  for (const folder of imageFolders.split(/\s+/)) await mkdir(join(root, folder), { recursive: true })
  for (const [path, text] of Object.entries(imageFiles)) await writeFile(join(root, path), text)
  for (const file of storage?.files ?? []) {
    const path = join(root, file.path)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, inlineFile(file) ?? '')
    await chmod(path, file.mode ?? 0o644)
  }
  for (const { name, contents } of systemd?.units ?? []) {
    if (contents) await writeFile(join(root, 'etc/systemd/system', name), contents)
  }
}

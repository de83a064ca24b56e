/** Makes small step registries on disk. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Cleanup, tempDir } from './temp-dir.ts'

/** Path below the root of the registry, and what stands in the file. */
export type RegistryFiles = Readonly<Record<string, string | Uint8Array>>

/** @returns the root of the registry, which is gone when `t` ends */
export async function writeRegistry(t: Cleanup, files: RegistryFiles): Promise<string> {
  const root = await tempDir(t)
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  return root
}

interface StepParts {
  /** More lines of the reference, as they stand below `ref:`. */
  readonly more?: string
  readonly script?: string | Uint8Array
}

/** A sound reference `as`, in the folder that its name wants, with its script. */
export function referenceFiles(as: string, { more = '', script = 'true\n' }: StepParts = {}): RegistryFiles {
  const folder = as.replaceAll('-', '/')
  const head = `ref:\n  as: ${as}\n  from: cli\n  commands: ${as}-commands.sh\n`
  const resources = '  resources:\n    requests:\n      cpu: 10m\n'
  return {
    [`${folder}/${as}-ref.yaml`]: `${head}${resources}${more}`,
    [`${folder}/${as}-commands.sh`]: script,
  }
}

/** A chain or a workflow `as`, in the folder that its name wants. */
export function partFile(kind: 'chain' | 'workflow', as: string, body: string): RegistryFiles {
  return { [`${as.replaceAll('-', '/')}/${as}-${kind}.yaml`]: `${kind}:\n  as: ${as}\n${body}` }
}

/** `ignition-apply`, the program of others that our `ignition apply` has to agree with. */
import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface IgnitionApply {
  /** Writes what the config makes into `root`. */
  apply(config: object, root: string): Promise<{ readonly isAccepted: boolean; readonly log: string }>
}

/**
 * @param program the program of all of Ignition: it does what the name it is called by says
 * @param folder a directory for its name and its configs
 */
export async function ignitionApply(program: string, folder: string): Promise<IgnitionApply> {
  const name = join(folder, 'ignition-apply')
  await symlink(program, name)
  return {
    async apply(config, root) {
      const file = join(folder, 'config.ign')
      await writeFile(file, JSON.stringify(config))
      // It refuses to run on what looks like a machine and not like a container.
      const env = { PATH: process.env['PATH'], container: 'sallyport-test' }
      return promisify(execFile)(name, ['--root', root, '--offline', file], { env }).then(
        ({ stdout, stderr }) => ({ isAccepted: true, log: `${stdout}${stderr}` }),
        (error: { stdout?: string; stderr?: string }) => ({
          isAccepted: false,
          log: `${error.stdout ?? ''}${error.stderr ?? ''}`,
        }),
      )
    },
  }
}

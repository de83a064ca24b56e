/** podman with a storage of its own, and an image that has the shell of this machine. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ContainerOptions } from '../src/workflow/registry-run/run-options.ts'
import type { Cleanup } from './temp-dir.ts'
import { tempDir } from './temp-dir.ts'

const programs = ['bash', 'sh', 'cat', 'ls', 'sleep', 'date', 'sync', 'mv', 'rm', 'touch', 'mkfifo', 'env']

/** What podman needs in a container that may not raise limits and has no cgroups of its own. */
const settings = `[containers]
default_ulimits = ["nofile=8192:8192","nproc=8192:8192"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "runc"
`

/** `localhost/tools` is the image. */
export async function podmanSite(t: Cleanup, program: string): Promise<ContainerOptions> {
  const root = await tempDir(t)
  const conf = join(root, 'containers.conf')
  const storage = join(root, 'storage.conf')
  writeFileSync(conf, settings)
  writeFileSync(storage, `[storage]\ndriver = "vfs"\ngraphroot = "${root}/graph"\nrunroot = "${root}/run"\n`)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: root,
    CONTAINERS_CONF: conf,
    CONTAINERS_STORAGE_CONF: storage,
  }
  const tree = join(root, 'tree')
  for (const name of programs) copyProgram(execFileSync('which', [name], { encoding: 'utf8' }).trim(), { tree, name })
  for (const folder of ['tmp', 'etc', 'var', 'run', 'proc', 'sys', 'dev']) mkdirSync(join(tree, folder))
  execFileSync('tar', ['-C', tree, '-cf', join(root, 'tree.tar'), '.'])
  execFileSync(program, ['import', '--quiet', join(root, 'tree.tar'), 'localhost/tools'], { env, stdio: 'ignore' })
  return { program, env, images: {}, image: 'localhost/tools' }
}

function copyProgram(path: string, { tree, name }: { readonly tree: string; readonly name: string }): void {
  // The loader then says what it would load, and runs nothing (ld.so(8)).
  const listed = execFileSync(path, [], { encoding: 'utf8', env: { LD_TRACE_LOADED_OBJECTS: '1' } })
  const libraries = listed.matchAll(/(\/\S+) \(0x/g)
  copyInto(path, join(tree, 'bin', name))
  for (const [, library = ''] of libraries) copyInto(library, join(tree, library))
}

function copyInto(from: string, to: string): void {
  if (existsSync(to)) return
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(realpathSync(from), to)
}

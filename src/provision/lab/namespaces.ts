/** Network namespaces of a lab, by `ip` (ip-netns(8)). Each function completes what is there already. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { signalProcess } from '../../host/processes.ts'
import { isTaken } from '../../store/presence.ts'
import { attempt, type LabHost, must } from './lab-programs.ts'

const namespaceFolder = '/run/netns'
/** What is here stands in for /etc/… for programs that `ip netns exec` starts (ip-netns(8)). */
const filesFolder = '/etc/netns'

/** How long a process has to be gone after SIGKILL, in milliseconds. */
const patienceMs = 3000

/**
 * A namespace with its own loopback, and files of its own in place of those of /etc; with a path of two parts, of a folder
 * in which nothing else is.
 */
export async function makeNamespace(
  host: LabHost,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const folder = join(filesFolder, name)
  await mkdir(folder, { recursive: true })
  for (const [file, content] of Object.entries(files)) {
    const [first = ''] = file.split('/')
    // Over what is not there nothing can be laid.
    if (!(await isTaken(join('/etc', first)))) continue
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), content)
  }
  if ((await isTaken(join(namespaceFolder, name))) && !(await isUsable(host, name))) await removeNamespace(host, name)
  if (!(await isTaken(join(namespaceFolder, name)))) await must(host, ['ip', 'netns', 'add', name])
  await must(host, ['ip', '-n', name, 'link', 'set', 'lo', 'up'])
}

/** False for what is left where one was killed while it made a namespace: a file that leads nowhere. */
async function isUsable(host: LabHost, name: string): Promise<boolean> {
  return (await attempt(host, ['ip', '-n', name, 'link', 'show', 'lo'])).status === 0
}

/** The words that run `argv` in a namespace. */
export function inNamespace(name: string, argv: readonly string[], ip = 'ip'): readonly string[] {
  return [ip, 'netns', 'exec', name, ...argv]
}

/**
 * Ends every process in it first: a namespace lives as long as a process does. True where there was anything.
 *
 * @throws KnownError LAB_FAILED where one does not end although it must: it waits for a disk or a driver
 */
export async function removeNamespace(host: LabHost, name: string): Promise<boolean> {
  const wasThere = await remainsOfNamespace(name)
  if (await isTaken(join(namespaceFolder, name))) {
    await endProcesses(host, name)
    const { status } = await attempt(host, ['ip', 'netns', 'delete', name])
    // That another deleted it in the meantime is as good.
    if (status !== 0 && (await isTaken(join(namespaceFolder, name)))) await must(host, ['ip', 'netns', 'delete', name])
  }
  await rm(join(filesFolder, name), { recursive: true, force: true })
  return wasThere.length > 0
}

/** Processes by number, those of the namespace only; undefined where there is no such namespace. */
export async function processesIn(host: LabHost, name: string): Promise<readonly number[] | undefined> {
  const { status, stdout } = await attempt(host, ['ip', 'netns', 'pids', name])
  return status === 0 ? stdout.split('\n').filter(Boolean).map(Number) : undefined
}

async function endProcesses(host: LabHost, name: string): Promise<void> {
  // Who is being ended may start another: until there is none.
  const patienceEnds = host.clock.now() + patienceMs
  for (;;) {
    const pids = (await processesIn(host, name)) ?? []
    if (pids.length === 0) return
    if (host.clock.now() >= patienceEnds) {
      throw new KnownError('LAB_FAILED', `What runs in ${name} does not end: process ${pids.join(', ')}`)
    }
    for (const pid of pids) signalProcess(pid, 'SIGKILL')
    await host.clock.sleep(10)
  }
}

/** What there is of a namespace: paths. */
export async function remainsOfNamespace(name: string): Promise<readonly string[]> {
  const paths = [join(namespaceFolder, name), join(filesFolder, name)]
  const found = await Promise.all(paths.map(isTaken))
  return paths.filter((_, index) => found[index])
}

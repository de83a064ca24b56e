/** Cables between namespaces, by `ip` (veth(4)). Each function completes what is there already. */
import { attempt, type LabHost, must } from './lab-programs.ts'

/** One end of a cable. */
export interface CableEnd {
  readonly namespace: string
  readonly device: string
  /** With the length of its prefix. */
  readonly address: string
}

/** Both ends at once, so that no end is ever to be seen in the network of the machine. */
export async function makeCable(host: LabHost, one: CableEnd, other: CableEnd): Promise<void> {
  if (!(await hasDevice(host, one))) {
    const far = ['peer', 'name', other.device, 'netns', other.namespace]
    await must(host, ['ip', 'link', 'add', one.device, 'netns', one.namespace, 'type', 'veth', ...far])
  }
  for (const { namespace, device, address } of [one, other]) {
    await configure(host, namespace, [`address replace ${address} dev ${device}`, `link set ${device} up`])
  }
}

export async function hasDevice(
  host: LabHost,
  { namespace, device }: Pick<CableEnd, 'namespace' | 'device'>,
): Promise<boolean> {
  return (await attempt(host, ['ip', '-n', namespace, 'link', 'show', device])).status === 0
}

/** Commands of `ip`, one a line, inside a namespace. */
export async function configure(host: LabHost, namespace: string, commands: readonly string[]): Promise<void> {
  await must(host, ['ip', '-n', namespace, '-batch', '-'], `${commands.join('\n')}\n`)
}

/** The network of a lab: three namespaces, two cables, and a third cable that leads nowhere. */
import { KnownError } from '../../errors/known-error.ts'
import type { Site } from '../../journal/events.ts'
import { type Making, sites } from '../provider.ts'
import { configure, hasDevice, makeCable } from './cables.ts'
import { labAddresses } from './lab-addresses.ts'
import { hostsFiles, type LabPlan, labNames, namespaceName } from './lab-plan.ts'
import { attempt, type LabHost, must } from './lab-programs.ts'
import type { LabUndo } from './lab-undo.ts'
import { inNamespace, makeNamespace, remainsOfNamespace } from './namespaces.ts'
import { bastionRules, closedRules, frameRules } from './packet-rules.ts'

/** @throws KnownError LAB_FAILED, also where a namespace of that name is somebody else's */
export async function makeLabNetwork(host: LabHost, plan: LabPlan, making: Making): Promise<void> {
  for (const site of sites) {
    making.signal?.throwIfAborted()
    const name = namespaceName(plan.id, site)
    await refuseForeign(name)
    await making.record({ kind: 'lab-namespace', lab: plan.id, name } satisfies LabUndo)
    await makeNamespace(host, name, siteFiles(plan, site))
  }
  const addresses = labAddresses(plan.subnet)
  const [connected, bastion, closed] = [
    namespaceName(plan.id, 'connected'),
    namespaceName(plan.id, 'bastion'),
    namespaceName(plan.id, 'closed'),
  ]
  const at = (address: string) => `${address}/${addresses.prefixLength}`
  await turnOff(host, bastion, routing)
  await turnOff(host, closed, withoutIpv6)
  // Counted before there is anywhere to go.
  await setRules(host, bastion, { chain: ['inet', 'sallyport', 'prerouting'], rules: bastionRules })
  await setRules(host, closed, { chain: ['inet', 'sallyport', 'output'], rules: closedRules(addresses.closedNetwork) })
  await makeCable(
    host,
    { namespace: connected, device: 'bastion0', address: at(addresses.connected) },
    { namespace: bastion, device: 'connected0', address: at(addresses.bastionOutside) },
  )
  await makeCable(
    host,
    { namespace: closed, device: 'bastion0', address: at(addresses.closed) },
    { namespace: bastion, device: 'closed0', address: at(addresses.bastionInside) },
  )
  await setRules(host, bastion, { chain: framesChain, rules: frameRules('closed0', addresses.closedNetwork) })
  await makeNowhere(host, closed, addresses.closedNetwork)
}

/** One of a lab has files of its own before it is there. Before the record: what it names is removed with all that runs in it. */
async function refuseForeign(name: string): Promise<void> {
  const [first, ...more] = await remainsOfNamespace(name)
  if (first?.startsWith('/run/') !== true || more.length > 0) return
  throw new KnownError('LAB_FAILED', `The network namespace ${name} is there, and no lab made it`, {
    hint: `Look at what is in it (ip netns pids ${name}), and remove it where nobody needs it: ip netns delete ${name}.`,
  })
}

/** Of /etc, as each site sees it: names from one file and from nobody that runs on this machine. */
function siteFiles(plan: LabPlan, site: Site): Readonly<Record<string, string>> {
  const { connected } = labAddresses(plan.subnet)
  return {
    hosts: hostsFiles(labNames(plan))[site],
    // An address outside, so that a question for a name is a packet that wants to leave.
    'resolv.conf': `nameserver ${connected}\noptions timeout:1 attempts:1\n`,
    'nsswitch.conf': 'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n',
    ...(site === 'closed' && nodeFiles),
  }
}

/** A node knows no mirror, CA or credential of this machine; what it does know it is given. */
const nodeFiles = {
  'containers/policy.json': '{"default":[{"type":"insecureAcceptAnything"}]}\n',
  'docker/.keep': '',
}

const routing = ['ipv4/ip_forward', 'ipv6/conf/all/forwarding']
/** A machine may hand down to its namespaces that it has none (sysctl net.core.devconf_inherit_init_net): what is not sent is not counted. */
const withoutIpv6 = ['ipv6/conf/all/disable_ipv6', 'ipv6/conf/default/disable_ipv6']

/** Settings of a namespace, by their paths below /proc/sys/net. */
async function turnOff(host: LabHost, namespace: string, settings: readonly string[]): Promise<void> {
  const files = settings.map((name) => `/proc/sys/net/${name}`)
  const script = files.map((file) => `[ ! -e ${file} ] || echo 0 > ${file}`).join('\n')
  await must(host, inNamespace(namespace, ['/bin/sh', '-ec', script]))
}

interface ChainRules {
  /** One that is there when they are. */
  readonly chain: readonly string[]
  readonly rules: string
}

const framesChain = ['netdev', 'sallyport', 'ingress']

/** Once: what is counted is kept. nft sets all rules of a file or none; a chain of a device goes with it. */
async function setRules(host: LabHost, namespace: string, { chain, rules }: ChainRules): Promise<void> {
  const listed = await attempt(host, inNamespace(namespace, ['nft', 'list', 'chain', ...chain]))
  if (listed.status !== 0) await must(host, inNamespace(namespace, ['nft', '-f', '-']), rules)
}

/**
 * A cable with both ends in the closed site, and the default route into it. Without a route connect(2) would fail before
 * there is a packet to count; with it nothing gets any further, were the rules gone.
 */
async function makeNowhere(host: LabHost, namespace: string, siteNetwork: string): Promise<void> {
  const device = 'nowhere0'
  if (!(await hasDevice(host, { namespace, device }))) {
    await must(host, ['ip', '-n', namespace, 'link', 'add', device, 'type', 'veth', 'peer', 'name', 'nowhere1'])
  }
  await setRules(host, namespace, { chain: framesChain, rules: frameRules('nowhere1', siteNetwork) })
  await configure(host, namespace, [
    'link set nowhere1 up',
    `link set ${device} up`,
    `route replace default dev ${device}`,
  ])
  const hasIpv6 = await attempt(host, ['ip', '-n', namespace, '-6', 'address', 'show', 'dev', 'lo'])
  if (!hasIpv6.stdout.includes('::1')) return
  await configure(host, namespace, [
    `address replace fd00:5a11::1/128 dev ${device} nodad`,
    `route replace ::/0 dev ${device}`,
  ])
}

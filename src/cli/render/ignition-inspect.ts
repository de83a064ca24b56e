/** What `ignition inspect` prints of one config. */
import { formatReference } from '../../oci/reference.ts'
import type { Evidence } from '../../openshift/bootstrap/bootstrap-file.ts'
import type { ConfigKind } from '../../openshift/bootstrap/inspected-config.ts'
import type { Inspection } from '../../openshift/bootstrap/inspection.ts'
import { rootAuthority } from '../../openshift/bootstrap/same-run.ts'
import { certificateLines, renderCertificateOverview } from './ignition-inspect-certificates.ts'
import { renderFileOverview } from './ignition-inspect-files.ts'
import { mirrorLines, nodeLines } from './ignition-inspect-mirrors.ts'
import { formatDeadline, formatValidity } from './ignition-inspect-time.ts'
import { renderUnits } from './ignition-inspect-units.ts'
import { count, formatBytes } from './quantities.ts'

/** @param now milliseconds since the epoch */
export function renderInspection(inspection: Inspection, now: number): string {
  const facts = [
    ...pointerFacts(inspection, now),
    ...releaseFacts(inspection),
    ...nameFacts(inspection),
    ...mirrorFacts(inspection),
    ...trustFacts(inspection, now),
    ...accessFacts(inspection),
    ...machineFacts(inspection),
  ]
  const certificates = inspection.inspected.kind === 'pointer' ? '' : renderCertificateOverview(inspection, now)
  const { useBefore, order } = inspection
  const files = renderFileOverview(inspection)
  const parts = [
    headLines(inspection),
    ...(useBefore === undefined ? [] : [[formatDeadline(useBefore, now)]]),
    facts.flatMap(([label, lines]) => factLines(label, lines)),
    [...(certificates === '' ? [] : factLines('certificates', [certificates]))],
    ...(files === '' ? [] : [[files.trimEnd()]]),
    ...(order.units.length === 0
      ? []
      : [[`units: ${order.units.length}, in their order\n`, renderUnits(inspection).trimEnd()]]),
  ]
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

type Fact = readonly [label: string, lines: readonly string[]]

const labelWidth = 14

function factLines(label: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `${(index === 0 ? label : '').padEnd(labelWidth)}${line}`.trimEnd())
}

const kinds: Readonly<Record<ConfigKind, string>> = {
  bootstrap: 'bootstrap config',
  agent: 'config of the live image of the agent-based installer',
  pointer: 'pointer config',
  machine: 'config of a machine',
  other: 'Ignition config',
}

function headLines({ fileName, sizeBytes, inspected, bootstrap, pointers }: Inspection): readonly string[] {
  const { kind, version, machineConfig } = inspected
  const { cluster, distribution, features } = bootstrap
  const role = pointers.find((pointer) => pointer.role !== undefined)?.role ?? machineConfig?.role
  const product =
    kind !== 'bootstrap'
      ? ''
      : ` of ${distribution === 'okd' ? 'OKD' : 'OpenShift'}${cluster.minor === undefined ? '' : ` ${cluster.minor}`}`
  const what = `${kinds[kind]}${product}${role === undefined ? '' : ` for ${role}`}`
  const about = [
    ...(machineConfig === undefined ? [] : [`MachineConfig ${machineConfig.name}`]),
    ...(cluster.names.domain === undefined ? [] : [`cluster ${cluster.names.domain}`]),
    ...(cluster.platform === undefined ? [] : [`platform ${cluster.platform}`]),
    ...(cluster.architecture === undefined ? [] : [cluster.architecture]),
    ...(cluster.isFips ? ['FIPS'] : []),
    ...(features.isInPlace ? ['a single node that installs itself'] : []),
  ]
  return [
    `${fileName}: ${what}, Ignition ${version}, ${formatBytes(sizeBytes)}`,
    ...(about.length === 0 ? [] : [about.join(', ')]),
  ]
}

function pointerFacts(inspection: Inspection, now: number): readonly Fact[] {
  const { pointers, inspected } = inspection
  const root = inspected.kind === 'bootstrap' ? undefined : rootAuthority(inspection)
  return [
    ...(pointers.length === 0
      ? []
      : [
          [
            'points to',
            pointers.map(({ how, url }) => (how === 'replace' ? `${url}, in the place of this one` : url)),
          ] as const,
        ]),
    ...(root === undefined
      ? []
      : [['known by', [...certificateLines(root, now), `  sha256:${root.fingerprint}`]] as const]),
  ]
}

function releaseFacts({ bootstrap, images, inspected }: Inspection): readonly Fact[] {
  const { releaseImage } = bootstrap
  if (inspected.kind !== 'bootstrap' && releaseImage === undefined) return []
  const names = images.images.map(({ name, isOptional }) => (isOptional ? `${name} (if it is there)` : name))
  const place = releaseImage === undefined ? [] : [placeOf(releaseImage.evidence)]
  return [
    ['release', releaseImage === undefined ? ['no script names one'] : [releaseImage.text, ...place]],
    ...(names.length === 0
      ? []
      : [['images', [`${count(names.length, 'name')} that scripts ask the release for:`, ...wrapped(names)]] as const]),
    ...(images.literals.length === 0
      ? []
      : [
          [
            'named',
            images.literals.map(({ reference, evidence }) => `${formatReference(reference)}, ${placeOf(evidence)}`),
          ] as const,
        ]),
  ]
}

function placeOf(evidence: readonly Evidence[]): string {
  const [first, ...more] = evidence
  const place = first === undefined ? '' : `${first.file}:${first.line}`
  return more.length === 0 ? place : `${place}, and ${count(more.length, 'more line')}`
}

function wrapped(words: readonly string[], width = 100): readonly string[] {
  const lines: string[] = []
  for (const [index, word] of words.entries()) {
    const text = index === words.length - 1 ? word : `${word},`
    const last = lines.at(-1)
    if (last === undefined || last.length + text.length >= width) lines.push(`  ${text}`)
    else lines[lines.length - 1] = `${last} ${text}`
  }
  return lines
}

function nameFacts({ bootstrap, inspected }: Inspection): readonly Fact[] {
  const { names } = bootstrap.cluster
  const asked = [names.api, names.apiInt].flatMap((name) => (name === undefined ? [] : [name]))
  const server = inspected.kind === 'bootstrap' && names.machineConfigServer !== undefined
  return [
    ...(asked.length === 0
      ? []
      : [
          [
            'names',
            [asked.join(', '), ...(server ? [`machines get their configs from ${names.machineConfigServer}`] : [])],
          ] as const,
        ]),
    ...(bootstrap.hosts.length === 0
      ? []
      : [['hosts', bootstrap.hosts.map(({ address, names: own }) => `${address} ${own.join(' ')}`)] as const]),
  ]
}

function mirrorFacts({ bootstrap, nodes, differences, inspected }: Inspection): readonly Fact[] {
  const { registries } = bootstrap
  const isBootstrap = inspected.kind === 'bootstrap'
  if (!isBootstrap && registries.files.length === 0) return []
  return [
    [
      'mirrors',
      [
        ...mirrorLines(registries.conf),
        ...(registries.files.length === 0 ? [] : [`by ${registries.files.join(', ')}`]),
      ],
    ],
    ...(nodes === undefined ? [] : [['nodes', nodeLines(nodes.conf, differences)] as const]),
  ]
}

function trustFacts({ bootstrap, certificates, inspected }: Inspection, now: number): readonly Fact[] {
  const lines = certificates.certificates.flatMap((certificate) => {
    const place = certificate.seen.find((one) => one.place === 'trust-anchor')
    if (place === undefined) return []
    const anchor = bootstrap.trustAnchors.find(({ path }) => path === place.at.file)
    const scope = anchor?.registry === undefined ? '' : `, for ${anchor.registry} only`
    return [
      `${certificate.subject}${certificate.isCa ? '' : ' (no authority)'}, ${formatValidity(certificate, now)}${scope}`,
    ]
  })
  if (lines.length === 0 && inspected.kind !== 'bootstrap') return []
  return [['trust', lines.length === 0 ? ['nobody but the public authorities'] : lines]]
}

function accessFacts({ bootstrap, inspected }: Inspection): readonly Fact[] {
  const { credentials, proxy } = bootstrap
  const users = (inspected.config.passwd?.users ?? []).map(
    ({ name, sshAuthorizedKeys = [], passwordHash, groups = [] }) => {
      const keys = sshAuthorizedKeys.filter((key) => key.trim() !== '').length
      const parts = [
        ...(keys === 0 ? [] : [count(keys, 'SSH key')]),
        ...(passwordHash ? ['a password'] : []),
        ...(groups.length === 0 ? [] : [`groups ${groups.join(', ')}`]),
      ]
      return parts.length === 0 ? name : `${name}: ${parts.join(', ')}`
    },
  )
  const proxies = [
    ...(proxy?.httpProxy === undefined ? [] : [`HTTP by ${proxy.httpProxy}`]),
    ...(proxy?.httpsProxy === undefined ? [] : [`HTTPS by ${proxy.httpsProxy}`]),
    ...(proxy === undefined || proxy.noProxy.length === 0 ? [] : [`but for ${proxy.noProxy.join(', ')}`]),
  ]
  return [
    ...(credentials === undefined
      ? []
      : [
          ['credentials', credentials.hosts.length === 0 ? ['none'] : [`for ${credentials.hosts.join(', ')}`]] as const,
        ]),
    ...(proxies.length === 0 ? [] : [['proxies', proxies] as const]),
    ...(users.length === 0 ? [] : [['users', users] as const]),
  ]
}

/** What is done to the machine itself. */
function machineFacts({ inspected }: Inspection): readonly Fact[] {
  const { config, machineConfig } = inspected
  const { shouldExist = [], shouldNotExist = [] } = config.kernelArguments ?? {}
  const kernel = [
    ...(shouldExist.length === 0 ? [] : [`with ${shouldExist.join(' ')}`]),
    ...(shouldNotExist.length === 0 ? [] : [`without ${shouldNotExist.join(' ')}`]),
  ]
  const { disks = [], raid = [], luks = [], filesystems = [], directories = [], links = [] } = config.storage ?? {}
  const disk = [
    ...disks.map(({ device, partitions = [] }) => `${device}: ${count(partitions.length, 'partition')}`),
    ...raid.map(({ name }) => `RAID ${name}`),
    ...luks.map(({ name }) => `encrypted ${name}`),
    ...filesystems.map(({ device, format, path }) => `${device}: ${format ?? 'as it is'}${path ? `, at ${path}` : ''}`),
  ]
  return [
    ...(machineConfig === undefined || machineConfig.asks.length === 0
      ? []
      : [['asks for', machineConfig.asks] as const]),
    ...(kernel.length === 0 ? [] : [['kernel', kernel] as const]),
    ...(disk.length === 0 ? [] : [['disks', disk] as const]),
    ...(directories.length === 0 ? [] : [['directories', directories.map(({ path }) => path)] as const]),
    ...(links.length === 0 ? [] : [['links', links.map(({ path, target }) => `${path} to ${target ?? ''}`)] as const]),
  ]
}

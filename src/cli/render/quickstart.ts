/** The quickstart, for people: two lines a step, what was done and what proves it. At most 80 columns. */
import { relative } from 'node:path'
import type { Traffic } from '../../flows/count-traffic.ts'
import type { QuickstartResult } from '../../flows/quickstart.ts'
import {
  type DamagedImage,
  type QuickstartStep,
  quickstartSteps,
  type RehearsalFacts,
  type StepFacts,
} from '../../flows/quickstart-steps.ts'
import { count, formatBytes, formatDuration } from './quantities.ts'

const under: Record<QuickstartStep, string> = {
  upstream: 'making a release and pushing it upstream',
  mirror: 'mirroring the release',
  again: 'mirroring again',
  resources: 'reading the cluster resources',
  gap: 'stopping the upstream',
  coverage: 'reading and hashing every byte at the mirror',
  egress: 'pulling as a node would',
  damage: 'breaking two images',
  repair: 'mending them',
  rehearsal: 'rehearsing the bootstrap of a cluster',
}

/** What is being done, for the line that is redrawn. */
export function renderStepBegun(step: QuickstartStep): string {
  return `[${quickstartSteps.indexOf(step) + 1}/${quickstartSteps.length}] ${under[step]} …`
}

export function renderIntroduction(directory: string): string {
  return `Everything happens on this machine, over loopback, with files in\n${directory}\n\n`
}

export function renderStep(facts: StepFacts): string {
  const [what = '', ...proofs] = linesOf(facts)
  const head = `[${quickstartSteps.indexOf(facts.step) + 1}/${quickstartSteps.length}]`
  const lines = [`${head} ${what.padEnd(69 - head.length)}${shortTime(facts.elapsedMs).padStart(9)}`]
  return [...lines, ...proofs.map((proof) => `      ${proof}`), ''].join('\n')
}

function linesOf(facts: StepFacts): readonly string[] {
  switch (facts.step) {
    case 'upstream':
      return [
        'Made a sample release; an upstream serves it, as quay.io',
        `release ${facts.version}: ${count(facts.components, 'component')}, ${count(facts.blobs, 'blob')}, ${formatBytes(facts.bytes)}; on ${facts.address}`,
        `signed by the key ${facts.keyId}, which was made for this run`,
      ]
    case 'mirror':
      return [
        'Verified its signature; mirrored it into a registry with TLS',
        `${count(facts.images, 'image')} to docker://${facts.target}`,
        `read: ${crossed(facts.read)}`,
        `sent: ${crossed(facts.sent)} (${facts.mounted} more places by mounts)`,
        `image by image it would have been ${formatBytes(facts.logicalBytes)}`,
      ]
    case 'again':
      return [
        'Mirrored it again: nothing moved',
        `${count(facts.images, 'image')} there; blobs read: ${facts.read.bytes} bytes, sent: ${facts.sent.bytes} bytes`,
      ]
    case 'resources':
      return [
        `Wrote the cluster resources: ${facts.files.length} files for oc apply`,
        ...facts.redirects.flatMap(({ source, mirror }) => [source, `  -> ${mirror}`]),
      ]
    case 'gap':
      return [
        'Stopped the upstream: from here on there is only the mirror',
        `${facts.address} does not answer any more`,
      ]
    case 'coverage':
      return [
        'Proved that everything is at the mirror',
        `${count(facts.images, 'image')}: ${count(facts.manifests, 'manifest')} and ${count(facts.blobs, 'blob')} are there,`,
        `${formatBytes(facts.bytes)} read back and hashed`,
      ]
    case 'egress':
      return [
        'Proved that a cluster would pull nothing from outside',
        `the release, read through the mirror as a node does, names ${count(facts.components, 'image')};`,
        `${count(facts.references, 'reference')} resolved with these resources: all found inside`,
      ]
    case 'damage':
      return [
        `Broke ${count(facts.images.length, 'image')} on purpose: both were found`,
        ...facts.images.flatMap(damageLines),
      ]
    case 'repair':
      return [
        'Mended them: upstream back on, the same mirror command again',
        `${count(facts.sent.transfers, 'blob')}, ${formatBytes(facts.sent.bytes)} moved; all ${count(facts.images, 'image')} hashed again: complete`,
      ]
    case 'rehearsal':
      return rehearsalLines(facts)
  }
}

function rehearsalLines({ images, stages, unavailable, withoutTrust }: RehearsalFacts): readonly string[] {
  const { finding, stoppedAt } = withoutTrust
  const scripts =
    unavailable === undefined
      ? [`its own scripts ran to the end in a sandbox: ${count(stages, 'stage')}`]
      : wrapped(`its scripts were not run: ${unavailable}`, 70)
  const place = stoppedAt && [stoppedAt.unit, stoppedAt.stage].filter(Boolean).join(', stage ')
  return [
    'Rehearsed the bootstrap of a cluster: it would come up',
    `${count(images, 'image')} can be pulled as its bootstrap.ign says, with all layers;`,
    ...scripts,
    `without the CA of the mirror it would not${place === undefined ? '' : ' get further than'}`,
    ...(place === undefined ? [] : [`  ${place}`]),
    ...wrapped(`${finding.id}: ${finding.summary}`, 68).map((line) => `  ${line}`),
  ]
}

function crossed({ transfers, blobs, bytes }: Traffic): string {
  const how = transfers === blobs ? 'each once' : `${transfers - blobs} of them again`
  return `${count(blobs, 'blob')}, ${bytes.toLocaleString('en-US')} bytes, ${how}`
}

/** What the command finds, without the digest of the image and with the one of the blob cut short. */
function damageLines({ component, damage, command, finding }: DamagedImage): string[] {
  const summary = finding.summary
    .replace(/: \S+@sha256:[0-9a-f]{64}\)$/, ')')
    .replaceAll(/(sha256:[0-9a-f]{12})[0-9a-f]{52}/g, '$1…')
  return [`${component}, ${damage}; ${command} says:`, ...wrapped(`${finding.id}: ${summary}`, 70)].map(
    (line, index) => (index === 0 ? line : `  ${line}`),
  )
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

function shortTime(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : formatDuration(milliseconds)
}

export interface QuickstartOutcome {
  readonly result: QuickstartResult
  /** False where the directory is removed. */
  readonly isKept: boolean
  /** Where the upstream serves; undefined where nothing serves any more. */
  readonly upstream?: string | undefined
  /** What relative paths are relative to. */
  readonly cwd: string
}

export function renderOutcome(outcome: QuickstartOutcome): string {
  const { result, isKept, upstream } = outcome
  return [
    '',
    `All of it holds, in ${formatDuration(result.elapsedMs)}.`,
    '',
    ...(isKept
      ? fileLines(outcome)
      : [
          'The files were temporary and are gone: --dir DIR keeps them, --keep also',
          'leaves both registries running.',
          '',
        ]),
    ...(upstream === undefined ? [] : servingLines(outcome, upstream)),
    ...nextLines,
    '',
  ].join('\n')
}

function fileLines({ result: { files, mirror }, upstream, cwd }: QuickstartOutcome): string[] {
  const { directory } = files
  const within = (path: string) => relative(directory, path)
  const serveAgain = [
    'Serve this mirror again:',
    `  sallyport registry serve --self-signed --listen ${mirror.address} \\`,
    `    --root ${shown(files.mirrorStore, cwd)}`,
    '',
  ]
  return [
    `Files in ${shown(directory, cwd)} (they stay):`,
    `  ${within(files.config).padEnd(42)}what to mirror`,
    `  ${`${within(files.clusterResources)}/`.padEnd(42)}for oc apply -f`,
    `  ${within(files.nodeConf).padEnd(42)}what nodes make of it`,
    `  ${`${within(files.signatures)}/`.padEnd(42)}signatures of the release`,
    `  ${within(files.releaseKey).padEnd(42)}the key that they are verified with`,
    `  ${within(files.upstreamConf).padEnd(42)}by which quay.io is the upstream`,
    `  ${within(files.ca).padEnd(42)}the CA of the mirror`,
    `  ${within(files.passwordFile).padEnd(42)}the password of ${files.username}`,
    `  ${within(files.authFile).padEnd(42)}the same, as podman keeps it`,
    '',
    ...(upstream === undefined ? serveAgain : []),
  ]
}

/** Relative where that is shorter. */
function shown(path: string, cwd: string): string {
  const short = relative(cwd, path)
  return short !== '' && short.length < path.length ? `./${short}`.replace('./..', '..') : path
}

function servingLines({ result, cwd }: QuickstartOutcome, upstream: string): string[] {
  const { files, mirror, release } = result
  const at = (path: string) => `$D/${relative(files.directory, path)}`
  return [
    'Serving until Ctrl-C:',
    `  the mirror    ${mirror.url}, with TLS and a password`,
    `  the upstream  http://${upstream}, which the next lines call quay.io`,
    'To try them in another shell:',
    `  D=${shown(files.directory, cwd)}`,
    `  export SSL_CERT_FILE=${at(files.ca)} REGISTRY_AUTH_FILE=${at(files.authFile)}`,
    `  export OCP_SIGNATURE_URL=${at(files.signatures)}`,
    `  export OCP_SIGNATURE_VERIFICATION_PK=${at(files.releaseKey)}`,
    `  sallyport verify mirror --workspace ${at(files.workspace)}`,
    `  sallyport mirror -c ${at(files.config)} --workspace ${at(files.workspace)} \\`,
    `    --registries-conf ${at(files.upstreamConf)} docker://${mirror.target}`,
    `  skopeo --registries-conf ${at(files.nodeConf)} inspect \\`,
    `    docker://${release}`,
    '',
  ]
}

const nextLines = [
  'Next, with a real registry (credentials and its CA: see README.md):',
  '  sallyport mirror -c isc.yaml --workspace file:///srv/mirror \\',
  '    docker://registry.lab:8443/ocp',
  '  sallyport verify mirror --workspace file:///srv/mirror',
  '  sallyport verify egress --workspace file:///srv/mirror',
  '  oc apply -f /srv/mirror/working-dir/cluster-resources/',
  'with this isc.yaml, and the release that you want:',
  '  kind: ImageSetConfiguration',
  '  apiVersion: mirror.openshift.io/v2alpha1',
  '  mirror:',
  '    platform:',
  '      release: quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64',
  'No registry yet? One comes with it: sallyport registry serve --help',
  '(in a checkout, sallyport is npx sallyport)',
]

/**
 * The payload of a sample release: `release-manifests/` with the fields that real ones have.
 *
 * Source of the shape: openshift/oc `pkg/cli/admin/release/new.go`, openshift/cluster-version-operator
 * `pkg/payload/payload.go` (the files), and the payload of 4.12.0 (the annotations).
 */
import { type TarEntry, tarFile } from '../archive/tar/ustar.ts'
import { digestOf } from '../oci/digest.ts'

export interface PayloadOptions {
  /** `4.18.9` */
  readonly version: string
  /** Versions that can be upgraded to this one. Default: some that come before it. */
  readonly previous?: readonly string[]
  /** Default: none, as in real releases. */
  readonly next?: readonly string[]
  /** More of `metadata` in release-metadata; `url` is there unless it is given. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Text of the ConfigMap with the boot images. Default: the release has none, as before 4.8. */
  readonly bootImages?: string
  /** More files, by their path below `release-manifests/`. */
  readonly manifests?: Readonly<Record<string, string>>
}

export interface PayloadComponent {
  readonly name: string
  /** The pullspec, by digest. */
  readonly reference: string
  /** What the id of its commit is made from. */
  readonly seed: string
}

/** The entries of the layer, in the order in which real ones have them. */
export function payloadEntries(components: readonly PayloadComponent[], options: PayloadOptions): readonly TarEntry[] {
  const files: Record<string, string> = {
    ...Object.fromEntries(components.filter(isOperator).map(deploymentFile)),
    ...(options.bootImages !== undefined && { '0000_50_installer_coreos-bootimages.yaml': options.bootImages }),
    ...options.manifests,
    'image-references': formatJson(imageReferences(components, options)),
    'release-metadata': formatJson(releaseMetadata(options)),
  }
  const entries = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    { name: 'release-manifests/', type: 'directory' },
    ...entries.map(([path, text]) => tarFile(`release-manifests/${path}`, text)),
  ]
}

function imageReferences(components: readonly PayloadComponent[], { version }: PayloadOptions): object {
  return {
    kind: 'ImageStream',
    apiVersion: 'image.openshift.io/v1',
    metadata: { name: version, creationTimestamp: '2024-01-01T00:00:00Z' },
    spec: { lookupPolicy: { local: false }, tags: components.map((each) => imageStreamTag(each, version)) },
    status: { dockerImageRepository: '' },
  }
}

function imageStreamTag({ name, reference, seed }: PayloadComponent, version: string): object {
  return {
    name,
    annotations: {
      'io.openshift.build.commit.id': digestOf(`commit/${seed}`).slice(-40),
      'io.openshift.build.commit.ref': '',
      'io.openshift.build.source-location': `https://github.com/openshift/${repositories[name] ?? name}`,
      ...versionsOf(name, version),
    },
    from: { kind: 'DockerImage', name: reference },
    generation: null,
    importPolicy: {},
    referencePolicy: { type: '' },
  }
}

/** Where the repository is not named as the component. */
const repositories: Readonly<Record<string, string>> = {
  hyperkube: 'kubernetes',
  cli: 'oc',
  'cli-artifacts': 'oc',
  'installer-artifacts': 'installer',
  'baremetal-installer': 'installer',
  'rhel-coreos': 'os',
}

function versionsOf(name: string, version: string): object {
  const [, major = '4', minor = '0', patch = '0'] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
  // OpenShift 4.18 has Kubernetes 1.31.
  if (name === 'hyperkube') return versions(`kubernetes=1.${Number(minor) + 13}.${patch}`, '')
  if (name === 'rhel-coreos' || name === 'machine-os-content')
    return versions(
      `machine-os=${major}${minor}.94.2024010100${patch.padStart(2, '0')}-0`,
      'machine-os=Red Hat Enterprise Linux CoreOS',
    )
  return {}
}

function versions(values: string, displayNames: string): object {
  return {
    'io.openshift.build.version-display-names': displayNames,
    'io.openshift.build.versions': values,
  }
}

function releaseMetadata({ version, previous, next, metadata }: PayloadOptions): object {
  return {
    kind: 'cincinnati-metadata-v0',
    version,
    previous: previous ?? versionsBefore(version),
    ...(next && { next }),
    metadata: {
      description: 'A sample made by sallyport: nothing in it can run.',
      url: `https://errata.example.com/${version}`,
      ...metadata,
    },
  }
}

/** A few of the same minor version, and of the one before. */
function versionsBefore(version: string): readonly string[] {
  const [, major = '4', minor = '0', patch = '0'] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
  const own = [3, 2, 1].map((less) => Number(patch) - less).filter((number) => number >= 0)
  const former = Number(minor) > 0 ? [20, 21, 22].map((number) => `${major}.${Number(minor) - 1}.${number}`) : []
  return [...former, ...own.map((number) => `${major}.${minor}.${number}`)]
}

function isOperator({ name }: PayloadComponent): boolean {
  return name.endsWith('-operator')
}

/** One Deployment for each operator, as the cluster-version operator would apply it. */
function deploymentFile({ name, reference }: PayloadComponent): readonly [string, string] {
  return [
    `0000_50_${name}_06_deployment.yaml`,
    `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: openshift-${name}
spec:
  selector:
    matchLabels:
      name: ${name}
  template:
    metadata:
      labels:
        name: ${name}
    spec:
      containers:
      - name: ${name}
        image: ${reference}
`,
  ]
}

function formatJson(document: object): string {
  return `${JSON.stringify(document, undefined, 2)}\n`
}

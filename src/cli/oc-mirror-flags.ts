/**
 * Every flag and environment variable of oc-mirror v2, and what becomes of it here.
 *
 * Source: openshift/oc-mirror `internal/pkg/cli/{executor,delete}.go`, `internal/pkg/mirror/options.go`.
 */
import { readBoolean, readCount, readDay } from './flag-values.ts'

/**
 * `works`: the same meaning. `ignored`: accepted, and `reason` is told once. `refused`: to go on without it would silently
 * break what it promises, so `reason` says what to do instead.
 */
type Verdict = 'works' | 'ignored' | 'refused'

export interface OcMirrorFlag {
  /** In commander's notation. */
  readonly flags: string
  readonly verdict: Verdict
  /** What `--help` says; a flag without it is not listed there. */
  readonly help?: string
  /** Why it is ignored or refused, and what there is instead. */
  readonly reason?: string
  readonly read?: (text: string) => unknown
  /** Which commands have it; `all` are those that move or delete images. */
  readonly on: 'all' | 'mirror' | 'delete'
  /** True for a flag that a command, `registry-access.ts` or `main.ts` declares by itself. */
  readonly isDeclared?: true
}

const noCache = 'there is no cache: every byte goes straight from its source to its target'
const noLocalRegistry = 'no local registry is started'
const otherTransport = 'only for transports that a mirror never uses (docker-daemon:, dir:, oci:)'
const sameBytes = 'images are copied byte for byte, since a digest that changes breaks every reference by digest'
const profile = 'profile with Node itself: node --cpu-prof (or --heap-prof) $(which sallyport) mirror …'

function declared(on: OcMirrorFlag['on'], ...flags: readonly string[]): OcMirrorFlag[] {
  return flags.map((one) => ({ flags: one, verdict: 'works', on, isDeclared: true }))
}

function ignored(reason: string, on: OcMirrorFlag['on'], ...flags: readonly string[]): OcMirrorFlag[] {
  return flags.map((one) => ({ flags: one, verdict: 'ignored', on, reason }))
}

function sideFlags(side: 'src' | 'dest'): string[] {
  const texts = ['authfile', 'creds', 'username', 'password', 'registry-token', 'cert-dir']
  return [...texts.map((name) => `--${side}-${name} <value>`), `--${side}-no-creds`, `--${side}-tls-verify [yes]`]
}

export const ocMirrorFlags: readonly OcMirrorFlag[] = [
  ...declared('all', '-c, --config <file>', '--workspace <dir>', '--log-level <level>', '--authfile <file>'),
  ...declared('all', '--retry-times <count>', '--retry-delay <duration>', '--tls-verify [yes]'),
  ...declared('all', ...sideFlags('src'), ...sideFlags('dest'), '--screds <value>', '--dcreds <value>'),
  ...declared('mirror', '--from <dir>', '--dry-run'),
  ...declared('delete', '--generate', '--delete-yaml-file <file>', '--delete-id <id>', '--delete-signatures'),
  ...declared('delete', '--delete-v1-images'),
  { flags: '--v2', verdict: 'works', on: 'all' },
  {
    flags: '--v1',
    verdict: 'refused',
    on: 'all',
    reason: 'sallyport does what oc-mirror --v2 does; configurations of v1 are read, so leave --v1 out',
  },
  {
    flags: '--parallel-images <count>',
    verdict: 'works',
    on: 'all',
    help: 'with --parallel-layers: at most IMAGES × LAYERS blobs under way at a time (default: 16)',
    read: readCount(1),
  },
  {
    flags: '--parallel-layers <count>',
    verdict: 'works',
    on: 'all',
    help: 'see --parallel-images',
    read: readCount(1),
  },
  {
    flags: '--since <date>',
    verdict: 'works',
    on: 'mirror',
    help: 'to disk: carry again what was carried since this day (YYYY-MM-DD)',
    read: readDay,
  },
  {
    flags: '--max-nested-paths <count>',
    verdict: 'works',
    on: 'mirror',
    help: 'components that the registry allows in the path of a repository; the rest is joined with - (0: any number)',
    read: readCount(0),
  },
  {
    flags: '--remove-signatures',
    verdict: 'works',
    on: 'mirror',
    help: 'leave out signatures and whatever else is attached to images',
  },
  {
    flags: '--dry-run-manifest-lists',
    verdict: 'works',
    on: 'mirror',
    help: 'as --dry-run, with a line in mapping.txt for each platform of an image',
  },
  { flags: '-q, --quiet', verdict: 'works', on: 'mirror', help: 'show no progress' },
  {
    flags: '--secure-policy [yes]',
    verdict: 'works',
    on: 'mirror',
    help: 'mirror only images that fulfil policy.json (containers-policy.json(5)); checked before the first byte',
    read: readBoolean,
  },
  {
    flags: '--policy <file>',
    verdict: 'works',
    on: 'mirror',
    help: 'with --secure-policy: this file instead of ~/.config/containers/policy.json or /etc/containers/policy.json',
  },
  {
    flags: '--registries.d <dir>',
    verdict: 'works',
    on: 'mirror',
    help: 'with --secure-policy: where it is written which registries have signature stores (containers-registries.d(5))',
  },
  {
    flags: '--ignore-release-signature',
    verdict: 'works',
    on: 'mirror',
    help: 'mirror releases without asking for their OpenPGP signatures; each is told',
  },
  ...ignored(noCache, 'all', '--cache-dir <dir>'),
  ...ignored('there is no cache, so nothing else holds what is deleted', 'delete', '--force-cache-delete'),
  ...ignored(noLocalRegistry, 'all', '-p, --port <port>'),
  ...ignored(
    'no image is given up for taking long: a transfer that stands still for a minute is broken off and goes on from its last byte',
    'mirror',
    '--image-timeout <duration>',
  ),
  ...ignored(
    'it is always so: a volume is never larger than archiveSize, because a blob that does not fit goes on in the next one',
    'mirror',
    '--strict-archive',
  ),
  ...ignored(
    'nothing is copied by a deletion, so no policy is looked at',
    'delete',
    '--policy <file>',
    '--registries.d <dir>',
  ),
  ...ignored('nothing is put into the storage of podman', 'mirror', '--rootless-storage-path <dir>'),
  ...ignored('every run looks at what is there and brings what is not', 'mirror', '-f, --force'),
  ...ignored(profile, 'all', '--cpu-prof', '--mem-prof'),
  ...ignored(otherTransport, 'all', '--src-daemon-host <host>', '--dest-daemon-host <host>'),
  ...ignored(otherTransport, 'all', '--src-shared-blob-dir <dir>', '--dest-shared-blob-dir <dir>'),
  ...ignored(sameBytes, 'all', '--dest-compress', '--dest-decompress', '--dest-oci-accept-uncompressed-layers'),
  ...ignored(sameBytes, 'all', '--dest-compress-format <format>', '--dest-compress-level <level>'),
  ...ignored('it is always so: a blob that the registry has is not sent', 'all', '--dest-precompute-digests'),
]

/** Variables that are heard by oc-mirror and not here, with the reason. */
export const ignoredVariables: Readonly<Record<string, string>> = {
  OC_MIRROR_CACHE: noCache,
}

/**
 * `rhcos.json`, the metadata of one build of CoreOS that releases before 4.8 carried (openshift/installer
 * `data/data/rhcos*.json`, `pkg/rhcos/builds.go`).
 */
import * as z from 'zod'
import type { Digest } from '../oci/digest.ts'
import type { BootFile, BootImage } from './boot-image.ts'

/** As a digest. */
export const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'no SHA-256 in lower-case hex')
  .transform((hex): Digest => `sha256:${hex}` as Digest)

/** Fields that are not named here are passed over. */
export const BuildMetadata = z.object({
  amis: z.record(z.string(), z.object({ hvm: z.string() })).default({}),
  azure: z.object({ image: z.string(), url: z.url() }).optional(),
  gcp: z.object({ image: z.string(), project: z.string().optional(), url: z.string() }).optional(),
  baseURI: z.url({ protocol: /^https?$/ }),
  buildid: z.string(),
  images: z.record(
    z.string(),
    z.object({
      // It becomes part of a URL: a name, not a way out of the directory.
      path: z.string().regex(/^[\w.+-]+$/, 'no file name'),
      sha256: Sha256,
      // 4.1 wrote it as text.
      size: z.coerce.number().int().nonnegative().optional(),
      'uncompressed-sha256': Sha256.optional(),
    }),
  ),
})
type Build = z.infer<typeof BuildMetadata>

/** Names that say more than a platform: the platform of today, what comes before the format, and the part of a network boot. */
const parts: Readonly<Record<string, { readonly prefix?: string; readonly role?: BootFile['role'] }>> = {
  iso: {},
  'live-iso': {},
  kernel: { role: 'kernel' },
  initramfs: { role: 'initramfs' },
  'live-kernel': { role: 'kernel' },
  'live-initramfs': { role: 'initramfs' },
  'live-rootfs': { role: 'rootfs' },
  metal4k: { prefix: '4k.' },
  'metal-bios': { prefix: 'bios.' },
  'metal-uefi': { prefix: 'uefi.' },
  'metal-dasd': { prefix: 'dasd.' },
  'metal-zfcp': { prefix: 'zfcp.' },
  dasd: { prefix: 'dasd.' },
}

/** The boot images of a build. An `ostree` commit is none: machines are updated from it, not started. */
export function imagesOfBuild(build: Build): BootImage[] {
  const architecture = architectureOf(build)
  const base = { architecture, release: build.buildid }
  const files = Object.entries(build.images).filter(([name]) => name !== 'ostree')
  const amis = Object.entries(build.amis).map(([region, { hvm }]): [string, string] => [region, hvm])
  const { azure, gcp } = build
  return [
    ...files.map(([name, image]) => bootFile(name, image, { ...base, baseUri: build.baseURI })),
    ...(amis.length > 0 ? [{ kind: 'regions' as const, ...base, platform: 'aws', regions: new Map(amis) }] : []),
    ...(azure ? [{ kind: 'cloud-disk' as const, ...base, platform: 'azure', location: azure.url }] : []),
    ...(gcp?.project
      ? [{ kind: 'cloud' as const, ...base, platform: 'gcp', project: gcp.project, name: gcp.image }]
      : []),
  ]
}

function bootFile(
  name: string,
  image: Build['images'][string],
  { baseUri, ...base }: { architecture: string; release: string; baseUri: string },
): BootFile {
  const part = parts[name]
  const role = part?.role ?? 'disk'
  const uncompressed = image['uncompressed-sha256']
  return {
    kind: 'file',
    ...base,
    platform: part ? 'metal' : name,
    format: role === 'disk' ? `${part?.prefix ?? ''}${formatOf(image.path)}` : 'pxe',
    role,
    location: new URL(image.path, baseUri.endsWith('/') ? baseUri : `${baseUri}/`).href,
    digest: image.sha256,
    ...(uncompressed && { uncompressedDigest: uncompressed }),
    ...(image.size !== undefined && { size: image.size }),
  }
}

/** `rhcos-47.83.202102090044-0-aws.x86_64.vmdk.gz`: what follows the architecture, or the last words in letters. */
function formatOf(path: string): string {
  return /\.((?:[a-z][a-z0-9]*)(?:\.(?:gz|xz))?)$/.exec(path)?.[1] ?? 'raw'
}

/** From the directory of the build; the first releases were for x86_64 alone, and named no architecture. */
function architectureOf({ baseURI, buildid }: Build): string {
  const known = ['aarch64', 'ppc64le', 's390x']
  return known.find((one) => baseURI.includes(one) || buildid.includes(one)) ?? 'x86_64'
}

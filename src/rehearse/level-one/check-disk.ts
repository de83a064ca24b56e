/**
 * Whether what the host pulls has room there: on a boot disk of the 100 GB that OpenShift asks for, and in the tmpfs that the node
 * image gets on a host that runs from a live image (openshift/installer `var-ostreecontainer.mount`, OCPBUGS-62790).
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { Evidence } from '../../openshift/bootstrap/bootstrap-file.ts'
import { listed, parseUnitText } from '../../openshift/bootstrap/unit-text.ts'
import { evidenceText } from './config-places.ts'
import type { DiskNeed } from './level-one-report.ts'
import { diskNeed, type TriedImage } from './pull-images.ts'

const gibibyte = 1024 ** 3
/** Half of that disk. */
const muchBytes = 50 * gibibyte

export function checkDisk(bootstrap: BootstrapConfig, images: readonly TriedImage[]): readonly Finding[] {
  return [...bootDisk(diskNeed(images)), ...scratchSpace(bootstrap, images)]
}

function bootDisk({ images, unpackedBytes }: DiskNeed): readonly Finding[] {
  if (unpackedBytes < muchBytes) return []
  return [
    finding({
      id: 'rehearse.disk',
      severity: 'warning',
      summary: `The bootstrap host pulls ${images} images, some ${gibibytes(unpackedBytes)} on its disk: far more than a release needs`,
      remedy:
        'Give it a boot disk that is larger by as much, or find out which image has grown: the report lists their sizes.',
    }),
  ]
}

/** Only where the host runs from a live image: nobody here can know. */
function scratchSpace({ units }: BootstrapConfig, images: readonly TriedImage[]): readonly Finding[] {
  const mount = units.find(({ name }) => /^var-ostree(?:-|\\x2d)?container\.mount$/.test(name))
  const node = images.filter(({ wanted }) => /^(?:rhel|stream)-coreos$/.test(wanted.name))
  const size = mount?.text === undefined ? undefined : sizeOf(mount.text, mount.path)
  const { unpackedBytes } = diskNeed(node)
  if (size === undefined || unpackedBytes <= size.bytes) return []
  return [
    finding({
      id: 'rehearse.disk-of-live-image',
      severity: 'info',
      summary: `On a host that runs from a live image the node image has ${gibibytes(size.bytes)} of memory, and needs some ${gibibytes(unpackedBytes)}`,
      evidence: evidenceText(size.at),
      remedy: `Raise size= in ${size.at.file} by a drop-in, and give the machine as much more memory. A host with a disk does not use it.`,
      where: size.at,
    }),
  ]
}

function sizeOf(text: string, path: string): { readonly bytes: number; readonly at: Evidence } | undefined {
  const [options] = listed(parseUnitText(text, path), 'Mount', 'Options').slice(-1)
  const [, number, unit = ''] = /\bsize=(\d+)([kmg]?)\b/i.exec(options?.value ?? '') ?? []
  if (options === undefined || number === undefined) return undefined
  const factor = { k: 1024, m: 1024 ** 2, g: gibibyte }[unit.toLowerCase()] ?? 1
  return { bytes: Number(number) * factor, at: options.at }
}

function gibibytes(bytes: number): string {
  return `${(bytes / gibibyte).toFixed(1)} GiB`
}

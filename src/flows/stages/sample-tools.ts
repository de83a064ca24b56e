/** Tools of the demonstration release: scripts that say what they are, where a release has its programs. */
import { placeholderOf, type ReleaseMark } from '../../release/patch-binary.ts'

type Files = Readonly<Record<string, Readonly<Record<string, Uint8Array>>>>

/** By component, by path in its image: as `release extract` looks for them. */
export const sampleTools: Files = {
  cli: { 'usr/bin/oc': tool({ name: 'oc', marks: ['version'], says: ['Client Version: $version'] }) },
  installer: {
    'usr/bin/openshift-install': tool({
      name: 'openshift-install',
      marks: ['image', 'version', 'architecture'],
      says: ['openshift-install $version', 'release image $image', `release architecture \${architecture#linux/}`],
    }),
  },
  'cloud-credential-operator': { 'usr/bin/ccoctl': tool({ name: 'ccoctl', marks: [], says: ['ccoctl'] }) },
}

interface SampleTool {
  readonly name: string
  /** What `release extract` puts into it. */
  readonly marks: readonly ReleaseMark[]
  readonly says: readonly string[]
}

/** A script with the places of a real binary behind it, which it reads out of itself. */
function tool({ name, marks, says }: SampleTool): Uint8Array {
  const places = marks.map(placeholderOf)
  const readers = marks.map((mark, index) => {
    const fromEnd = places.slice(index).reduce((sum, place) => sum + place.length, 0)
    return `${mark}=$(tail -c ${fromEnd} "$0" | head -c ${places[index]?.length ?? 0} | tr '\\0' '\\n' | head -n 1)`
  })
  const lines = [
    '#!/bin/sh',
    `# ${name} of the demonstration release: it knows what it is, and does nothing.`,
    ...readers,
    'case "$*" in',
    `  *version*|*help*) printf '%s\\n' ${says.map((line) => `"${line}"`).join(' ')}; exit ;;`,
    'esac',
    `echo '${name} of the demonstration release does nothing: use a real release' >&2`,
    'exit 1',
    '',
  ]
  return Buffer.concat([Buffer.from(lines.join('\n')), ...places])
}

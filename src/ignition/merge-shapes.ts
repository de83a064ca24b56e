/**
 * Which lists of a config are merged, and by what: the part of Ignition's rules that its types carry.
 *
 * Source: coreos/ignition `config/v3_6/types/*.go`, the methods `Key`, `IgnoreDuplicates` and `MergedKeys`.
 */

/** How a list is merged with the child's. */
interface ListRule {
  /** What makes two entries the same one; undefined where entries are never the same and the child's are appended. */
  readonly keyOf?: (entry: unknown) => string
  /** Lists of one object with the same group hold each key once among them: the child's list wins. */
  readonly group?: string
  /** A child's entry without this field takes the parent's away. */
  readonly removedWithout?: string
}

/** What is to be known of a value in order to merge it: of scalars nothing, the child's wins. */
export interface MergeShape {
  readonly fields?: Readonly<Record<string, MergeShape>>
  readonly list?: ListRule
  /** The shape of the entries of a list. */
  readonly entries?: MergeShape
}

function fieldOf(entry: unknown, name: string): unknown {
  return typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>)[name] : undefined
}

function by(name: string, fields: Readonly<Record<string, MergeShape>> = {}, group?: string): MergeShape {
  const keyOf = (entry: unknown) => String(fieldOf(entry, name) ?? '')
  return { list: { keyOf, ...(group !== undefined && { group }) }, entries: { fields } }
}

function byValue(group?: string): MergeShape {
  return { list: { keyOf: String, ...(group !== undefined && { group }) } }
}

const appended: MergeShape = { list: {} }

const headers: MergeShape = { ...by('name'), list: { ...by('name').list, removedWithout: 'value' } }
const resource = { httpHeaders: headers }

/** A partition has a number, or else a label. */
const partitions: MergeShape = {
  list: {
    keyOf: (entry) => {
      const number = fieldOf(entry, 'number') ?? 0
      const label = fieldOf(entry, 'label') ?? undefined
      if (number !== 0) return `number:${number}`
      return label === undefined ? '' : `label:${label}`
    },
  },
}

const storage: Readonly<Record<string, MergeShape>> = {
  directories: by('path', {}, 'path'),
  files: by('path', { contents: { fields: resource }, append: appended }, 'path'),
  links: by('path', {}, 'path'),
  disks: by('device', { partitions }),
  raid: by('name', { devices: byValue(), options: appended }),
  filesystems: by('device', { options: appended, mountOptions: appended }),
  luks: by('name', {
    keyFile: { fields: resource },
    options: appended,
    openOptions: byValue(),
    clevis: { fields: { tang: by('url') } },
  }),
}

export const configShape: MergeShape = {
  fields: {
    ignition: {
      fields: {
        config: { fields: { merge: by('source', resource), replace: { fields: resource } } },
        security: { fields: { tls: { fields: { certificateAuthorities: by('source', resource) } } } },
        proxy: { fields: { noProxy: byValue() } },
      },
    },
    kernelArguments: {
      fields: { shouldExist: byValue('argument'), shouldNotExist: byValue('argument') },
    },
    passwd: { fields: { users: by('name', { groups: byValue(), sshAuthorizedKeys: byValue() }), groups: by('name') } },
    storage: { fields: storage },
    systemd: { fields: { units: by('name', { dropins: by('name') }) } },
  },
}

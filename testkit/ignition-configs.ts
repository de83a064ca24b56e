/**
 * Random Ignition configs as text, for every version of the specification and with faults mixed in.
 *
 * Every config may have the fields of all versions: what its version does not have is an unused key. Faults are wrong values,
 * values of the wrong type, `null`, keys in other letters, keys that come twice, and text that is no JSON.
 */
import fc from 'fast-check'
import type { Faultiness, TextPool } from './ignition-values.ts'
import * as values from './ignition-values.ts'

/** JSON text of a value. */
type Field = (faultiness: Faultiness) => fc.Arbitrary<string>

type Fields = Readonly<Record<string, Field>>

const wrongValues = ['null', 'null', '1', '"x"', 'true', '{}', '[]', '[null]', '{"a":1}', '1.5', '-1', '1e2', '""']

/** Now and then something else stands there. */
function spoiled(field: Field): Field {
  return (faultiness) =>
    faultiness === 0
      ? field(0)
      : fc.oneof(
          { weight: 5000, arbitrary: field(faultiness) },
          { weight: faultiness, arbitrary: fc.constantFrom(...wrongValues) },
        )
}

const text = (pool: TextPool): Field => spoiled((faultiness) => pool(faultiness).map((value) => JSON.stringify(value)))

const flag: Field = spoiled(() => fc.constantFrom('true', 'false'))

function number(...sound: readonly number[]): Field {
  const wrong = [-1, 0, 1, 511, 4095, 4096, 2 ** 31, 2 ** 53]
  return spoiled((faultiness) => {
    const any = fc.constantFrom(...sound)
    return (faultiness === 0 ? any : fc.oneof({ weight: 9, arbitrary: any }, fc.constantFrom(...wrong))).map(String)
  })
}

function list(field: Field, maxLength = 3): Field {
  return spoiled((faultiness) => fc.array(field(faultiness), { maxLength }).map((items) => `[${items.join(',\n')}]`))
}

/** @param needed what a sound one has */
function structure(needed: Fields, optional: Fields = {}): Field {
  return spoiled((faultiness) => {
    const members = [
      ...Object.entries(needed).map(([key, field]) => member(key, field(faultiness), { faultiness, weight: 30 })),
      ...Object.entries(optional).map(([key, field]) => member(key, field(faultiness), { faultiness, weight: 1 })),
    ]
    const strays = fc.constantFrom('', '', '', '', '', '', '"stray": {"a": [1e3]}', '"é": null', '"a b": 1')
    return fc.tuple(...members, strays).map((parts) => `{ ${parts.filter(Boolean).join(',\n ')}}`)
  })
}

interface MemberOptions {
  readonly faultiness: Faultiness
  /** How much oftener it is there than not. */
  readonly weight: number
}

function member(key: string, value: fc.Arbitrary<string>, { faultiness, weight }: MemberOptions): fc.Arbitrary<string> {
  const there = value.map((written) => `"${key}": ${written}`)
  const absent = { weight: faultiness === 0 && weight > 1 ? 0 : 100, arbitrary: fc.constant('') }
  const twice = fc.tuple(there, there).map((both) => both.join(', '))
  const inOtherLetters = value.map((written) => `"${key.toUpperCase()}": ${written}`)
  return fc.oneof(
    absent,
    { weight: weight * 100, arbitrary: there },
    { weight: Math.min(faultiness, 1), arbitrary: fc.oneof(twice, inOtherLetters) },
  )
}

const resource = structure(
  { source: text(values.sources) },
  { compression: text(values.compressions), verification: structure({}, { hash: text(values.hashes) }) },
)
/** Headers go with some sources only, so that sound resources have none. */
const fetched = structure(
  { source: text(values.sources) },
  { httpHeaders: list(structure({ name: text(values.names) }, { value: text(values.names) })) },
)
const anyResource: Field = (faultiness) =>
  faultiness === 0 ? resource(0) : fc.oneof({ weight: 9, arbitrary: resource(faultiness) }, fetched(faultiness))

const owner = structure({}, { id: number(0, 1000) })
const namedOwner: Field = (faultiness) =>
  fc.oneof(owner(faultiness), structure({ name: text(values.names) }, faultiness ? { id: number(1) } : {})(faultiness))
const node = { path: text(values.paths) }
const owners = { user: namedOwner, group: namedOwner }

const file = structure(
  { ...node, contents: anyResource },
  { ...owners, mode: number(420, 493), overwrite: flag, append: list(anyResource) },
)
const directory = structure(node, { ...owners, mode: number(493, 1023), overwrite: flag })
const link = structure({ ...node, target: text(values.paths) }, { ...owners, hard: flag, overwrite: flag })

const partition = structure(
  { label: text(values.labels) },
  {
    number: number(0),
    guid: text(values.guids),
    typeGuid: text(values.guids),
    resize: flag,
    wipePartitionEntry: flag,
    startMiB: number(0),
    sizeMiB: number(0, 100),
  },
)
const layout = structure(
  { number: number(1, 2, 3, 4, 5, 6), startMiB: number(1, 100, 200, 300), sizeMiB: number(50, 99) },
  { shouldExist: flag, label: text(values.labels) },
)
const anyPartitions: Field = (faultiness) =>
  fc.oneof(list(partition)(faultiness), list(layout, faultiness === 0 ? 1 : 3)(faultiness))
const disk = structure({ device: text(values.devices) }, { wipeTable: flag, partitions: anyPartitions })
const filesystem = structure(
  { device: text(values.devices), format: text(values.formats) },
  {
    path: text(values.paths),
    label: text(values.labels),
    uuid: text(values.guids),
    options: list(text(values.names)),
    mountOptions: list(text(values.names)),
    wipeFilesystem: flag,
  },
)
const raid = structure(
  { name: text(values.names), level: text(values.levels), devices: (faultiness) => devices(faultiness) },
  { options: list(text(values.names)), spares: number(0, 1) },
)
const devices: Field = (faultiness) =>
  faultiness === 0 ? text(values.devices)(0).map((device) => `[${device}]`) : list(text(values.devices))(faultiness)

const custom = structure({ pin: text(values.pins), config: text(values.names) }, { needsNetwork: flag })
const tang = structure(
  { url: text(values.proxies), thumbprint: text(values.names) },
  { advertisement: text(values.advertisements) },
)
const clevis: Field = (faultiness) =>
  fc.oneof(
    structure({ custom })(faultiness),
    structure({}, { tang: list(tang), threshold: number(1, 0), tpm2: flag })(faultiness),
    faultiness === 0 ? fc.constant('{}') : structure({}, { custom, tpm2: flag, tang: list(tang) })(faultiness),
  )
const luks: Field = (faultiness) =>
  structure(
    { name: text(values.names), device: text(values.devices) },
    {
      clevis,
      label: text(values.labels),
      options: list(text(values.names)),
      openOptions: list(text(values.names)),
      discard: flag,
      uuid: text(values.names),
      wipeVolume: flag,
      ...(faultiness > 0 && { cex: structure({}, { enabled: flag }), keyFile: anyResource }),
    },
  )(faultiness)

const unit = structure(
  { name: text(values.unitNames) },
  {
    contents: text(values.units),
    enabled: flag,
    mask: flag,
    dropins: list(structure({ name: text(values.dropinNames), contents: text(values.units) })),
  },
)
const user = structure(
  { name: text(values.names) },
  {
    ...{ gecos: text(values.names), groups: list(text(values.names)), homeDir: text(values.names), uid: number(1) },
    ...{ noCreateHome: flag, noLogInit: flag, noUserGroup: flag, passwordHash: text(values.names), system: flag },
    ...{ primaryGroup: text(values.names), sshAuthorizedKeys: list(text(values.names)), shell: text(values.names) },
    shouldExist: flag,
  },
)
const group = structure(
  { name: text(values.names) },
  { gid: number(1), passwordHash: text(values.names), shouldExist: flag, system: flag },
)

const storage = structure(
  {},
  {
    files: list(file, 5),
    directories: list(directory),
    links: list(link),
    disks: list(disk),
    filesystems: list(filesystem),
    raid: list(raid),
    luks: list(luks),
  },
)

const versions = ['3.0.0', '3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.5.0', '3.6.0', '3.7.0-experimental']
const oddVersions = [
  ...['', '2.2.0', '2.4.0', '3.7.0', '3.3.0-experimental', '4.0.0', '03.02.0', '3.2', '3.2.0-', '3.2.0+1', '3.2.1'],
]

const version: Field = spoiled((faultiness) => {
  const sound = fc.constantFrom(...versions)
  const any = faultiness === 0 ? sound : fc.oneof({ weight: 60, arbitrary: sound }, fc.constantFrom(...oddVersions))
  return any.map((value) => JSON.stringify(value))
})

const ignition = structure(
  { version },
  {
    config: structure({}, { merge: list(anyResource), replace: anyResource }),
    proxy: structure(
      {},
      { httpProxy: text(values.proxies), httpsProxy: text(values.proxies), noProxy: list(text(values.names)) },
    ),
    security: structure({}, { tls: structure({}, { certificateAuthorities: list(anyResource) }) }),
    timeouts: structure({}, { httpResponseHeaders: number(1), httpTotal: number(10) }),
  },
)

const config = structure(
  { ignition },
  {
    kernelArguments: structure({}, { shouldExist: list(text(values.names)), shouldNotExist: list(text(values.names)) }),
    passwd: structure({}, { users: list(user), groups: list(group) }),
    storage,
    systemd: structure({}, { units: list(unit, 4) }),
  },
)

/** A character too much, too few, or another; or the end is missing. */
function cutText(whole: string, place: number, change: string | number): string {
  const at = place % (whole.length + 1)
  if (typeof change === 'string') return whole.slice(0, at) + change + whole.slice(at)
  return change === 0 ? whole.slice(0, at) : whole.slice(0, at) + whole.slice(at + change)
}

const marks = [...'",}]{[:\\\n\u0001é0-.et ', '\\u12', '\uFEFF']
const changes = fc.constantFrom<string | number>(...marks, 0, 1, 1, 2)

const withBrokenText = fc
  .tuple(config(5), fc.nat({ max: 100_000 }), changes)
  .map(([whole, place, change]) => cutText(whole, place, change))

/** About half of them are sound. */
export const ignitionConfigs: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: config(0) },
  { weight: 4, arbitrary: config(1) },
  { weight: 4, arbitrary: config(5) },
  { weight: 3, arbitrary: config(20) },
  { weight: 2, arbitrary: config(60) },
  { weight: 1, arbitrary: withBrokenText },
)

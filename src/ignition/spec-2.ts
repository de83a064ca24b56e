/**
 * Configs of specification 2.x, which installers of OpenShift 4.5 and before wrote, as if they were 3.x.
 *
 * What 3.x has no place for (networkd, filesystems that are mounted for a file) is left out: this is for reading such a
 * config, not for booting from it.
 *
 * Source: coreos/ignition `docs/migrating-configs.md`, "From Version 2.3.0 to 3.0.0".
 */
import type { Directory, File, IgnitionConfig, Link, Resource, Unit, User, UserGroup } from './config.ts'
import type { DecodedStruct } from './validation/decode.ts'
import { resourceType } from './validation/spec-resource.ts'
import { list, type StructType, scalar, struct, texts } from './validation/spec-types.ts'

interface Node2 {
  readonly filesystem?: string
  readonly path: string
  readonly overwrite?: boolean
  readonly user?: { readonly id?: number; readonly name?: string }
  readonly group?: { readonly id?: number; readonly name?: string }
}

interface File2 extends Node2 {
  readonly append?: boolean
  readonly mode?: number
  readonly contents?: Resource
}

interface Unit2 extends Omit<Unit, 'enabled'> {
  readonly enable?: boolean
  readonly enabled?: boolean
}

interface Config2 {
  readonly ignition: {
    readonly config?: { readonly append?: readonly Resource[]; readonly replace?: Resource }
    readonly security?: { readonly tls?: { readonly certificateAuthorities?: readonly Resource[] } }
  }
  readonly passwd?: { readonly users?: readonly User[]; readonly groups?: readonly UserGroup[] }
  readonly storage?: {
    readonly files?: readonly File2[]
    readonly directories?: readonly (Node2 & { readonly mode?: number })[]
    readonly links?: readonly (Node2 & { readonly target: string; readonly hard?: boolean })[]
  }
  readonly systemd?: { readonly units?: readonly Unit2[] }
}

/** @param decoded by `configType2` */
export function configOfSpec2(decoded: DecodedStruct): IgnitionConfig {
  // What is decoded as such a config has its shape.
  const { ignition, passwd, storage, systemd } = decoded as unknown as Config2
  const { append, replace } = ignition.config ?? {}
  return {
    ignition: {
      version: '3.0.0',
      config: { ...(append && { merge: append }), ...(replace?.source && { replace }) },
      ...(ignition.security && { security: ignition.security }),
    },
    passwd: { users: passwd?.users ?? [], groups: passwd?.groups ?? [] },
    storage: {
      files: filesOf(storage?.files ?? []),
      directories: (storage?.directories ?? []).map((directory): Directory => ownerOnly(directory)),
      links: (storage?.links ?? []).map((link): Link => ownerOnly(link)),
    },
    systemd: { units: (systemd?.units ?? []).map(unitOf) },
  }
}

/** In 2.x a path may come twice, the later appending to the earlier; in 3.x `append` is a list of one file. */
function filesOf(files: readonly File2[]): readonly File[] {
  const byPath = new Map<string, File>()
  for (const file of files) {
    const { append, contents, ...rest } = file
    const node = ownerOnly(rest)
    const before = byPath.get(file.path)
    if (append === true)
      byPath.set(file.path, { ...(before ?? node), append: [...(before?.append ?? []), contents ?? {}] })
    else byPath.set(file.path, { ...node, overwrite: file.overwrite ?? true, ...(contents && { contents }) })
  }
  return [...byPath.values()]
}

function ownerOnly<T extends Node2>({ filesystem: _, ...node }: T): Omit<T, 'filesystem'> {
  return node
}

function unitOf({ enable, enabled, ...unit }: Unit2): Unit {
  const isEnabled = enabled ?? (enable === true ? true : undefined)
  return { ...unit, ...(isEnabled !== undefined && { enabled: isEnabled }) }
}

/**
 * The fields of 2.x that are read here (coreos/ignition `config/v2_3/types/schema.go`, branch spec2x).
 *
 * Resources have since not changed but for what 2.x has no use of.
 */
export function configType2(): StructType {
  const tls = struct('TLS', { certificateAuthorities: list(resourceType(1)) })
  return struct('Config', {
    ignition: struct('Ignition', {
      config: struct('IgnitionConfig', { append: list(resourceType(1)), replace: resourceType(1) }),
      security: struct('Security', { tls }),
      version: scalar.text,
    }),
    passwd: passwdType2(),
    storage: storageType2(),
    systemd: struct('Systemd', { units: list(unitType2()) }),
  })
}

function passwdType2(): StructType {
  const { text, optionalText, optionalNumber, optionalFlag } = scalar
  const user = struct('PasswdUser', {
    ...{ name: text, gecos: optionalText, groups: texts('Group'), homeDir: optionalText, noCreateHome: optionalFlag },
    ...{ noLogInit: optionalFlag, noUserGroup: optionalFlag, passwordHash: optionalText, primaryGroup: optionalText },
    ...{ shell: optionalText, sshAuthorizedKeys: texts('SSHAuthorizedKey'), system: optionalFlag, uid: optionalNumber },
  })
  const group = struct('PasswdGroup', {
    ...{ name: text, gid: optionalNumber, passwordHash: optionalText, system: optionalFlag },
  })
  return struct('Passwd', { users: list(user), groups: list(group) })
}

function storageType2(): StructType {
  const { text, optionalText, optionalNumber, optionalFlag } = scalar
  const owner = struct('NodeUser', { id: optionalNumber, name: optionalText })
  const node = { filesystem: text, path: text, overwrite: optionalFlag, user: owner, group: owner }
  const file = struct('File', { ...node, append: optionalFlag, contents: resourceType(1), mode: optionalNumber })
  const directory = struct('Directory', { ...node, mode: optionalNumber })
  const link = struct('Link', { ...node, target: text, hard: optionalFlag })
  return struct('Storage', { files: list(file), directories: list(directory), links: list(link) })
}

function unitType2(): StructType {
  const { text, optionalText, optionalFlag } = scalar
  const dropin = struct('Dropin', { name: text, contents: optionalText })
  return struct('Unit', {
    ...{ name: text, contents: optionalText, dropins: list(dropin) },
    ...{ enable: optionalFlag, enabled: optionalFlag, mask: optionalFlag },
  })
}

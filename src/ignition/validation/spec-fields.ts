/**
 * Which fields exist in which version of the specification, 3.0 to 3.7.0-experimental.
 *
 * Source: coreos/ignition `config/v3_N/types/schema.go`.
 */
import { certificateAuthorityType, configReferenceType } from './spec-resource.ts'
import { storageType } from './spec-storage.ts'
import { list, type StructType, scalar, struct, texts } from './spec-types.ts'

/** @param minor of the specification: 2 for 3.2.0, 7 for 3.7.0-experimental */
export function configType(minor: number): StructType {
  return struct('Config', {
    ignition: ignitionType(minor),
    ...(minor >= 3 && { kernelArguments: kernelArgumentsType() }),
    passwd: passwdType(minor),
    storage: storageType(minor),
    systemd: systemdType(),
  })
}

/** What Ignition reads first, to know which version the rest is of (`config/util/config.go`). */
export function versionStubType(): StructType {
  const ignition = struct('', { Version: scalar.text }, { goType: 'struct { Version string }' })
  return struct('versionStub', { Ignition: ignition }, { goType: 'util.versionStub' })
}

function ignitionType(minor: number): StructType {
  const child = configReferenceType(minor)
  const tls = struct('TLS', { certificateAuthorities: list(certificateAuthorityType(minor)) })
  return struct('Ignition', {
    config: struct('IgnitionConfig', { merge: list(child), replace: child }),
    ...(minor >= 1 && { proxy: proxyType() }),
    security: struct('Security', { tls }),
    timeouts: struct('Timeouts', { httpResponseHeaders: scalar.optionalNumber, httpTotal: scalar.optionalNumber }),
    version: scalar.text,
  })
}

function proxyType(): StructType {
  return struct('Proxy', {
    httpProxy: scalar.optionalText,
    httpsProxy: scalar.optionalText,
    noProxy: texts('NoProxyItem'),
  })
}

function kernelArgumentsType(): StructType {
  const group = 'KernelArgument'
  return struct('KernelArguments', {
    shouldExist: texts('KernelArgument', { group }),
    shouldNotExist: texts('KernelArgument', { group }),
  })
}

function passwdType(minor: number): StructType {
  const shouldExist = minor >= 2 && { shouldExist: scalar.optionalFlag }
  const group = struct('PasswdGroup', {
    gid: scalar.optionalNumber,
    name: scalar.text,
    passwordHash: scalar.optionalText,
    ...shouldExist,
    system: scalar.optionalFlag,
  })
  const user = struct('PasswdUser', {
    gecos: scalar.optionalText,
    groups: texts('Group'),
    homeDir: scalar.optionalText,
    name: scalar.text,
    noCreateHome: scalar.optionalFlag,
    noLogInit: scalar.optionalFlag,
    noUserGroup: scalar.optionalFlag,
    passwordHash: scalar.optionalText,
    primaryGroup: scalar.optionalText,
    sshAuthorizedKeys: texts('SSHAuthorizedKey'),
    shell: scalar.optionalText,
    ...shouldExist,
    system: scalar.optionalFlag,
    uid: scalar.optionalNumber,
  })
  return struct('Passwd', { groups: list(group), users: list(user) })
}

function systemdType(): StructType {
  const dropin = struct('Dropin', { contents: scalar.optionalText, name: scalar.text })
  const unit = struct('Unit', {
    contents: scalar.optionalText,
    dropins: list(dropin),
    enabled: scalar.optionalFlag,
    mask: scalar.optionalFlag,
    name: scalar.text,
  })
  return struct('Systemd', { units: list(unit) })
}

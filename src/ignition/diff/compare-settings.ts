/** What configs say besides files, units and accounts: trust, proxies, children, kernel arguments, disks. */
import { KnownError } from '../../errors/known-error.ts'
import { redact } from '../../errors/redact.ts'
import type { IgnitionConfig, Resource } from '../config.ts'
import { inlineText } from '../contents.ts'
import { isDataUrl } from '../data-url.ts'
import { Redactor } from '../redact/redactor.ts'
import { SecretLedger } from '../redact/secret-ledger.ts'
import { certificatesIn } from './compare-contents.ts'
import { type Detail, type Difference, keyedDifferences, safeDetail, setDetails, valueDetail } from './difference.ts'

type Fields = Readonly<Record<string, unknown>>

/** @param versions of the specification, as the two configs say them */
export function settingDifferences(
  before: IgnitionConfig,
  after: IgnitionConfig,
  versions: readonly [string, string],
): readonly Difference[] {
  const [old, own] = [before.ignition, after.ignition]
  const authorities = (config: IgnitionConfig) =>
    (config.ignition.security?.tls?.certificateAuthorities ?? []).flatMap(authorityNames)
  return [
    ...setting('ignition.version', valueDetail('value', ...versions)),
    ...setting('ignition.config', childDetails(old.config, own.config)),
    ...setting('ignition.timeouts', fieldDetails({ ...old.timeouts }, { ...own.timeouts })),
    ...setting('ignition.proxy', [
      ...fieldDetails({ ...old.proxy, noProxy: null }, { ...own.proxy, noProxy: null }),
      ...setDetails('noProxy', old.proxy?.noProxy ?? [], own.proxy?.noProxy ?? []),
    ]),
    ...setDetails('authority', authorities(before), authorities(after)).map(
      ({ before: gone, after: came }): Difference => ({
        kind: 'certificate authority',
        name: redact(gone ?? came ?? ''),
        change: gone === undefined ? 'added' : 'removed',
        details: [],
      }),
    ),
    ...kernelArgumentDifferences(before, after),
    ...diskDifferences(before, after),
  ]
}

function setting(name: string, details: readonly Detail[]): readonly Difference[] {
  return details.length === 0 ? [] : [{ kind: 'setting', name, change: 'changed', details }]
}

/** What is in it where it is here, and where it is where it is not. */
function authorityNames(resource: Resource): readonly string[] {
  if (!isDataUrl(resource.source ?? '')) return [resource.source ?? '']
  try {
    const names = certificatesIn(inlineText({ path: 'authority', contents: resource }) ?? '')
    return names.length > 0 ? names : ['one that holds no certificate']
  } catch (error) {
    if (error instanceof KnownError) return ['one that cannot be read']
    throw error
  }
}

type Children = IgnitionConfig['ignition']['config']

/** In their order: the later wins. */
function childDetails(before: Children, after: Children): readonly Detail[] {
  const named = (resources: readonly Resource[]) =>
    resources.length === 0 ? undefined : resources.map(resourceName).join(', ')
  const replacement = (children: Children) => (children?.replace?.source ? [children.replace] : [])
  return [
    ...safeDetail('merge', [named(before?.merge ?? []), named(after?.merge ?? [])], redact),
    ...safeDetail('replace', [named(replacement(before)), named(replacement(after))], redact),
  ]
}

function resourceName({ source, verification }: Resource): string {
  const hash = verification?.hash ? ` ${verification.hash}` : ''
  return isDataUrl(source ?? '') ? 'data' : `${source}${hash}`
}

function kernelArgumentDifferences(before: IgnitionConfig, after: IgnitionConfig): readonly Difference[] {
  const [old, own] = [before.kernelArguments, after.kernelArguments]
  return setting('kernelArguments', [
    ...setDetails('shouldExist', old?.shouldExist ?? [], own?.shouldExist ?? []),
    ...setDetails('shouldNotExist', old?.shouldNotExist ?? [], own?.shouldNotExist ?? []),
  ])
}

function diskDifferences(before: IgnitionConfig, after: IgnitionConfig): readonly Difference[] {
  const lists = { disks: 'device', filesystems: 'device', raid: 'name', luks: 'name' } as const
  return Object.entries(lists).flatMap(([list, key]) => {
    const of = (config: IgnitionConfig) => (config.storage as Readonly<Record<string, Fields[]>> | undefined)?.[list]
    return keyedDifferences<Fields>({
      kind: list === 'luks' ? 'LUKS volume' : list === 'raid' ? 'RAID' : list.replace(/s$/, ''),
      before: of(before),
      after: of(after),
      nameOf: (entry) => String(entry[key]),
      detailsOf: (one, other) => fieldDetails(one ?? {}, other ?? {}),
    })
  })
}

/** Fields by name; of those that hold keys only that they differ. */
function fieldDetails(before: Fields, after: Fields): readonly Detail[] {
  const redactor = new Redactor(new SecretLedger(), { isSweep: false })
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.flatMap((name): readonly Detail[] => {
    const sides = [shown(before[name]), shown(after[name])] as const
    return safeDetail(name, sides, (text) => (name === 'keyFile' ? 'not shown' : redactor.text(text, '')))
  })
}

function shown(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

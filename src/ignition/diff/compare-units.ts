/** Units, users and groups of two configs compared. */
import { createHash } from 'node:crypto'
import type { Dropin, IgnitionConfig, Unit, User, UserGroup } from '../config.ts'
import type { ContentsComparison } from './compare-contents.ts'
import { type Detail, type Difference, keyedDifferences, setDetails, valueDetail } from './difference.ts'

export function unitDifferences(
  before: IgnitionConfig,
  after: IgnitionConfig,
  comparison: ContentsComparison,
): readonly Difference[] {
  return keyedDifferences<Unit>({
    kind: 'unit',
    before: before.systemd?.units,
    after: after.systemd?.units,
    nameOf: ({ name }) => name,
    detailsOf: (old, own) => [
      ...valueDetail('enabled', said(old?.enabled), said(own?.enabled)),
      ...valueDetail('mask', said(old?.mask), said(own?.mask)),
      ...comparison.textDetails('contents', old?.contents ?? '', own?.contents ?? ''),
      ...dropinDetails(old?.dropins ?? [], own?.dropins ?? [], comparison),
    ],
  })
}

function said(value: boolean | null | undefined): string | undefined {
  return typeof value === 'boolean' ? String(value) : undefined
}

function dropinDetails(
  before: readonly Dropin[],
  after: readonly Dropin[],
  comparison: ContentsComparison,
): readonly Detail[] {
  const textOf = (list: readonly Dropin[], name: string) => list.find((one) => one.name === name)?.contents ?? ''
  const names = [...new Set([...before, ...after].map(({ name }) => name))].sort()
  return names.flatMap((name) => comparison.textDetails(`drop-in ${name}`, textOf(before, name), textOf(after, name)))
}

export function accountDifferences(before: IgnitionConfig, after: IgnitionConfig): readonly Difference[] {
  const nameOf = ({ name }: { readonly name: string }) => name
  return [
    ...keyedDifferences<User>({
      kind: 'user',
      before: before.passwd?.users,
      after: after.passwd?.users,
      nameOf,
      detailsOf: (old, own) => [
        ...plainFields(old, own),
        ...setDetails('group', old?.groups ?? [], own?.groups ?? []),
        ...setDetails('SSH key', keysOf(old), keysOf(own)),
      ],
    }),
    ...keyedDifferences<UserGroup>({
      kind: 'group',
      before: before.passwd?.groups,
      after: after.passwd?.groups,
      nameOf,
      detailsOf: plainFields,
    }),
  ]
}

/** Everything but lists; of a password hash only that it differs. */
function plainFields(before: User | UserGroup | undefined, after: User | UserGroup | undefined): readonly Detail[] {
  const [old, own] = [before, after].map((entry) => ({ ...entry }) as Readonly<Record<string, unknown>>)
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(own ?? {})])].sort()
  return names.flatMap((name): readonly Detail[] => {
    const [one, other] = [old?.[name] ?? undefined, own?.[name] ?? undefined]
    if (name === 'name' || Array.isArray(one ?? other) || one === other) return []
    if (name === 'passwordHash') return [{ field: name, isSecret: true }]
    const shown = (value: unknown) => (value === undefined ? undefined : String(value))
    return valueDetail(name, shown(one), shown(other))
  })
}

/** As `ssh-keygen -l` names them: kind and fingerprint, without whose they are. */
function keysOf(user: User | undefined): readonly string[] {
  return (user?.sshAuthorizedKeys ?? []).map((key) => {
    const [, kind, body] = /(\S+) +(AAAA[\w+/=]+)/.exec(key) ?? []
    if (kind === undefined || body === undefined) return 'one that cannot be read'
    const hash = createHash('sha256').update(Buffer.from(body, 'base64')).digest('base64')
    return `${kind} SHA256:${hash.replace(/=+$/, '')}`
  })
}

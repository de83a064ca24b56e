/** Names that are not missing: their files are there, and did not load. */
import type { Finding } from '../../errors/finding.ts'
import type { Registry } from './registry.ts'

/** What is wrong with them, by `KIND/NAME`. */
export function faultyFiles({ findings }: Pick<Registry, 'findings'>): ReadonlyMap<string, readonly Finding[]> {
  return Map.groupBy(findings, ({ where }) => {
    const [, name, kind] = /([^/]*)-(ref|chain|workflow|observer)\.yaml$/.exec(where?.file ?? '') ?? []
    return `${kind}/${name}`
  })
}

/** Why `name` did not load, for a message that says it is not there; whatever its kind. */
export function faultsOfName(registry: Pick<Registry, 'findings'>, name: string): readonly string[] {
  const faulty = faultyFiles(registry)
  return ['ref', 'chain', 'workflow', 'observer']
    .flatMap((kind) => faulty.get(`${kind}/${name}`) ?? [])
    .map(({ summary }) => summary)
}

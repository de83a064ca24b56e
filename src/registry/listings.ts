/** Tags and repositories, in pages: distribution-spec, "Listing Tags"; `_catalog` as Docker's registry has it. */
import { Repository, repositoryNames } from '../store/repository.ts'
import { answerJson, type Exchange, type RegistryContext } from './exchange.ts'
import { Refusal } from './refusal.ts'

export function listTags({ store }: RegistryContext, name: string, exchange: Exchange): void {
  const tags = new Repository(store, name).tags()
  if (tags === undefined) throw new Refusal('NAME_UNKNOWN', `there is no repository ${name}`)
  const { items, headers } = page(tags, exchange, `/v2/${name}/tags/list`)
  answerJson(exchange, { name, tags: items }, headers)
}

export function listRepositories({ store }: RegistryContext, exchange: Exchange): void {
  const { items, headers } = page(repositoryNames(store), exchange, '/v2/_catalog')
  answerJson(exchange, { repositories: items }, headers)
}

/** The entries after `last`, at most `n`, and where the next ones are (RFC 8288). */
function page(sorted: readonly string[], { query }: Exchange, path: string) {
  const last = query.get('last')
  const start = last === null ? 0 : sorted.findIndex((item) => item > last)
  const rest = start < 0 ? [] : sorted.slice(start)
  const limit = limitAsked(query.get('n')) ?? rest.length
  const items = rest.slice(0, limit)
  if (items.length === rest.length || limit === 0) return { items, headers: {} }
  const next = new URLSearchParams({ n: String(limit), last: items.at(-1) ?? '' })
  return { items, headers: { Link: `<${path}?${next}>; rel="next"` } }
}

function limitAsked(text: string | null): number | undefined {
  if (text === null) return undefined
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  throw new Refusal('UNSUPPORTED', `n=${text} is not a number of entries`, { status: 400 })
}

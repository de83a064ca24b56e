/**
 * Keys and certificates of policy.json: in a file, in several, or in the policy itself as base64.
 *
 * Source: containers/image `signature/policy_eval_sigstore.go:loadBytesFromConfigSources`.
 */
import { readFile } from 'node:fs/promises'
import { KnownError } from '../errors/known-error.ts'
import { JsonFault, type JsonNode, type JsonObject, textOfNode } from './policy-json.ts'

export type ByteSource =
  | { readonly kind: 'paths'; readonly paths: readonly string[] }
  | { readonly kind: 'data'; readonly parts: readonly Uint8Array[] }

interface Names {
  /** The fields of which at most one may stand: `…Path`, `…Paths`, `…Data`, `…Datas`. */
  readonly names: readonly string[]
  readonly place: string
}

/** @throws JsonFault where more than one of the fields stands, or one is empty */
export function parseByteSource(fields: JsonObject['fields'], { names, place }: Names): ByteSource | undefined {
  const given = names.filter((name) => fields.has(name))
  const [name] = given
  const node = name === undefined ? undefined : fields.get(name)
  if (name === undefined || node === undefined) return undefined
  const what = `${place}.${name}`
  if (given.length > 1) throw new JsonFault(`${place} has ${given.join(' and ')}; only one may stand`, node.line)
  const isList = name.endsWith('s')
  const texts = (isList ? itemsOf(node, what) : [node]).map((item) => textOfNode(item, what, node.line))
  if (texts.length === 0) throw new JsonFault(`${what} has no entries`, node.line)
  if (name.includes('Path')) {
    if (texts.includes('')) throw new JsonFault(`${what} is empty`, node.line)
    return { kind: 'paths', paths: texts }
  }
  return { kind: 'data', parts: texts.map((text) => fromBase64(text, what, node.line)) }
}

/** Every file or part. @throws KnownError FILE_UNREADABLE */
export async function readByteSource(source: ByteSource): Promise<readonly Uint8Array[]> {
  if (source.kind === 'data') return source.parts
  return Promise.all(
    source.paths.map(async (path) => {
      try {
        return await readFile(path)
      } catch (cause) {
        throw new KnownError('FILE_UNREADABLE', `Cannot read ${path}, which the policy names`, {
          details: { file: path },
          cause,
        })
      }
    }),
  )
}

function itemsOf(node: JsonNode, what: string): readonly JsonNode[] {
  if (node.kind !== 'array') throw new JsonFault(`${what} must be a list of strings`, node.line)
  return node.items
}

/** As Go decodes a `[]byte`: padded, and line ends do not count. */
function fromBase64(text: string, what: string, line: number): Uint8Array {
  const bare = text.replace(/[\r\n]/g, '')
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(bare))
    throw new JsonFault(`${what} is not base64`, line)
  return Buffer.from(bare, 'base64')
}

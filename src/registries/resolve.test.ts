import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatReference, parseReference } from '../oci/reference.ts'
import { parseRegistriesConf } from './parse.ts'
import { resolveEndpoints } from './resolve.ts'

/** What the real skopeo 1.9.3 did: `tried` in order, `blocked` the prefixes that forbade one of them. */
interface Vector {
  readonly name: string
  readonly registriesConf: string
  readonly ref: string
  readonly tried: readonly string[]
  readonly blocked: readonly string[]
  readonly error: string
}

const vectorFile = '../shared/data/installer/mirror/mirror-resolution-vectors.json'

test('every recorded pull of skopeo tries the same endpoints here, in the same order', (t) => {
  if (!existsSync(vectorFile)) return t.skip(`${vectorFile} is not here`)
  const { cases }: { cases: readonly Vector[] } = JSON.parse(readFileSync(vectorFile, 'utf8'))
  assert.ok(cases.length >= 38)
  for (const vector of cases) {
    // skopeo 1.9 refuses these; podman and CRI-O take the digest, and so does this.
    if (vector.error.includes('both a tag and digest')) continue
    assert.deepEqual(outcome(vector), { tried: vector.tried, blocked: vector.blocked }, vector.name)
  }
})

function outcome({ registriesConf, ref }: Vector) {
  try {
    const { endpoints } = resolveEndpoints(parseRegistriesConf(registriesConf, 'r.conf'), parseReference(ref))
    return {
      tried: endpoints.map(({ reference }) => formatReference(reference)),
      blocked: endpoints.flatMap(({ blockedBy }) => blockedBy ?? []),
    }
  } catch (error) {
    assert.match(String((error as { code?: string }).code), /^(REGISTRIES_CONF_INVALID|REFERENCE_REWRITE_INVALID)$/)
    return { tried: [], blocked: [] }
  }
}

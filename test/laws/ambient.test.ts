/** Time, chance, the environment and other programs are collaborators: they are passed in, never reached for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shippedFiles, withoutComments } from './source-files.ts'

interface Ban {
  readonly what: string
  readonly pattern: RegExp
  readonly homes: readonly string[]
}

const bans: readonly Ban[] = [
  { what: 'the environment', pattern: /\bprocess\.env\b/, homes: ['src/host/'] },
  { what: 'the wall clock', pattern: /\bDate\.now\(|\bnew Date\(\)/, homes: ['src/host/'] },
  { what: 'chance', pattern: /\bMath\.random\(|\brandomUUID\(|\brandomBytes\(/, homes: ['src/host/'] },
  { what: 'a timer', pattern: /\bset(?:Timeout|Interval)\((?!\d+\))/, homes: ['src/host/'] },
  { what: 'another program', pattern: /node:child_process/, homes: ['src/host/'] },
  { what: 'the end of the process', pattern: /\bprocess\.exit\(/, homes: ['src/cli/main.ts'] },
  { what: 'standard output', pattern: /\bprocess\.std(?:out|err)\b|\bconsole\./, homes: ['src/cli/'] },
  { what: 'a variable of the module', pattern: /^(?:export )?let /m, homes: [] },
  { what: 'an enum', pattern: /^(?:export )?(?:const )?enum /m, homes: [] },
]

/** Calls that share a name with a timer: `socket.setTimeout(…)` and `request.setTimeout(…)` belong to their object. */
const ownTimeout = /\.setTimeout\(/g

for (const { what, pattern, homes } of bans) {
  test(`${what} is reached for only in ${homes.join(', ') || 'no file'}`, async () => {
    const files = (await shippedFiles()).filter(({ path }) => !homes.some((home) => path.startsWith(home)))
    const broken = files.filter(({ text }) => pattern.test(withoutComments(text).replaceAll(ownTimeout, '')))
    assert.deepEqual(
      broken.map(({ path }) => path),
      [],
    )
  })
}

/**
 * The same configs to us and to `ignition-validate`: the same verdict, the same words, the same lines and columns.
 *
 * The newest Ignition is compared in everything. That of Debian is 2.14, which reads 3.0 to 3.3, and compared in its
 * verdict. What we say beyond either is listed in `src/ignition/validate.ts`.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { parse } from 'yaml'
import { validateIgnition } from '../../src/ignition/validate.ts'
import { ignitionConfigs } from '../../testkit/ignition-configs.ts'
import { ownVerdict, peerVerdict, type Verdict } from '../../testkit/ignition-validate.ts'
import { peer } from '../../testkit/peers.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const options = { skip: existsSync(join(data, 'ignition')) ? false : 'the data is not here' }

interface Comparison {
  readonly own: Verdict
  /** Undefined where its peer is not installed. */
  readonly newest: Verdict | undefined
  readonly debian: Verdict | undefined
}

type Compare = (config: string) => Promise<Comparison>

function comparing(t: TestContext): Compare | undefined {
  const [newest, debian] = [peer(t, 'ignition-validate-new'), peer(t, 'ignition-validate')]
  if (newest === undefined && debian === undefined) return undefined
  return async (config) => {
    const verdicts = [newest, debian].map((program) => (program ? peerVerdict(program, config) : undefined))
    const [ofNewest, ofDebian] = await Promise.all(verdicts)
    return { own: ownVerdict(validateIgnition(config)), newest: ofNewest, debian: ofDebian }
  }
}

/** What the peers say otherwise than we; empty where all agree. */
function disagreement({ own, newest, debian }: Comparison): string {
  const said: string[] = []
  if (newest && (own.isFatal !== newest.isFatal || own.lines.join('\n') !== lines(newest, own)))
    said.push(`the newest: ${newest.isFatal ? 'fatal' : 'valid'}\n${newest.lines.join('\n')}`)
  if (debian && own.isFatal !== debian.isFatal && !isByAge(own, debian))
    said.push(`Debian's: ${debian.isFatal ? 'fatal' : 'valid'}\n${debian.lines.join('\n')}`)
  return said.length === 0 ? '' : [`ours: ${own.isFatal ? 'fatal' : 'valid'}`, ...own.lines, ...said].join('\n')
}

/** Debian's knows less versions, and its Go takes hosts that Go 1.26 refuses: `[1.2.3.4]`, `a:1:2`. */
function isByAge(own: Verdict, debian: Verdict): boolean {
  if (debian.lines[0] === "couldn't parse config: unsupported config version") return true
  const errors = own.lines.filter((line) => line.startsWith('error '))
  return !debian.isFatal && errors.every((line) => line.endsWith(': unable to parse url'))
}

/** Behind the last character the peer knows no place, and we do. */
function lines(peers: Verdict, own: Verdict): string {
  const isAtEnd = /^error at line 0 col 0: (?!unexpected end)/.test(peers.lines[0] ?? '')
  if (!isAtEnd) return peers.lines.join('\n')
  const [place = ''] = /line \d+ col \d+/.exec(own.lines[0] ?? '') ?? []
  return peers.lines.join('\n').replace('line 0 col 0', place)
}

async function filesOf(folder: string): Promise<readonly (readonly [name: string, text: string])[]> {
  const names = await readdir(join(data, folder))
  return Promise.all(names.map(async (name) => [name, await readFile(join(data, folder, name), 'utf8')] as const))
}

test('every config of the data is valid for all, or for none, in the same words', options, async (t) => {
  const compare = comparing(t)
  if (!compare) return
  const folders = ['ignition/ignition', 'ignition/real-bootstrap', 'installer/ign']
  let valid = 0
  const files = (await Promise.all(folders.map(filesOf))).flat()
  for (const [name, config] of files) {
    const comparison = await compare(config)
    valid += comparison.own.isFatal ? 0 : 1
    assert.equal(disagreement(comparison), '', name)
  }
  t.diagnostic(`${files.length} configs, ${valid} of them valid`)
})

test('the configs in MachineConfigs are valid for all, or for none, in the same words', options, async (t) => {
  const compare = comparing(t)
  if (!compare) return
  let compared = 0
  for (const [name, text] of await filesOf('ignition/machineconfig')) {
    const document: { spec?: { config?: unknown } } | null = parse(text)
    if (document?.spec?.config === undefined) continue
    compared += 1
    assert.equal(disagreement(await compare(JSON.stringify(document.spec.config, undefined, 2))), '', name)
  }
  t.diagnostic(`${compared} configs`)
})

test('random configs are valid for all, or for none, in the same words', async (t) => {
  const compare = comparing(t)
  if (!compare) return
  const counts = { valid: 0, fatal: 0 }
  const property = fc.asyncProperty(ignitionConfigs, async (config) => {
    const comparison = await compare(config)
    counts[comparison.own.isFatal ? 'fatal' : 'valid'] += 1
    assert.equal(disagreement(comparison), '')
  })
  const { seed, failed, counterexample, errorInstance } = await fc.check(property, {
    numRuns: 400,
    endOnFailure: false,
  })
  t.diagnostic(`seed ${seed}: ${counts.valid} valid, ${counts.fatal} fatal`)
  assert.ok(!failed, `seed ${seed}\n${counterexample?.[0]}\n${errorInstance}`)
})

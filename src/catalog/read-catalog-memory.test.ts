import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const limitMiB = 300

/** Reads a catalog of one bundle with `properties`, an expression for an iterable of texts, in a process of its own. */
async function readInProcess(properties: string) {
  const script = `
    import { readCatalog } from ${JSON.stringify(new URL('read-catalog.ts', import.meta.url).href)}
    const start = '{"schema":"olm.package","name":"big"}\\n{"schema":"olm.bundle","package":"big","name":"big.v1","properties":['
    const end = '{"type":"olm.package","value":{"packageName":"big","version":"1.0.0"}}]}'
    async function* open() {
      yield Buffer.from(start)
      for (const text of ${properties}) yield Buffer.from(text)
      yield Buffer.from(end)
    }
    async function* files() { yield { path: 'big.json', size: 100_000_000, open } }
    const result = await readCatalog({ origin: 'catalog', files }).then(
      ({ packages }) => ({ bundle: packages.get('big').bundles.get('big.v1') }),
      ({ code, message }) => ({ code, message }),
    )
    const peakMiB = process.resourceUsage().maxRSS / 1024
    console.log(JSON.stringify({ ...result, peakMiB }))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  return JSON.parse(stdout)
}

const ways: Readonly<Record<string, string>> = {
  'in one text': `(function* () {
    yield '{"type":"x","value":"'
    for (let i = 0; i < 100; i++) yield 'x'.repeat(1_000_000)
    yield '"},'
  })()`,
  'of a megabyte each': `(function* () {
    for (let i = 0; i < 100; i++) yield '{"type":"olm.bundle.object","value":{"data":"' + 'x'.repeat(1_000_000) + '"}},'
  })()`,
}
for (const [what, properties] of Object.entries(ways)) {
  test(`100 MB of properties ${what} are read over, in less than ${limitMiB} MiB`, async () => {
    const { bundle, peakMiB, ...rest } = await readInProcess(properties)
    assert.deepEqual([bundle?.version, rest], ['1.0.0', {}])
    assert.ok(bundle.place.length > 100_000_000)
    assert.ok(peakMiB < limitMiB, `${peakMiB} MiB`)
  })
}

test(`100 MB of small properties are refused by package and place, in less than ${limitMiB} MiB`, async () => {
  const small = `(function* () {
    for (let i = 0; i < 1_000; i++) yield '{"type":"x","value":"a short text"},'.repeat(3_000)
  })()`
  const { code, message, peakMiB } = await readInProcess(small)
  assert.equal(code, 'CATALOG_INVALID')
  assert.match(
    message,
    /^catalog: big\.json, line 2, byte \d+: a document of more than 33554432 bytes.* \(package "big"\)$/,
  )
  assert.ok(peakMiB < limitMiB, `${peakMiB} MiB`)
})

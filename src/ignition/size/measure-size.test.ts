import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { IgnitionConfig } from '../config.ts'
import { inlineFile } from '../contents.ts'
import { encodeDataUrl } from '../data-url.ts'
import { hashLike } from '../patch/file-entry.ts'
import { compressFiles } from './compress-files.ts'
import { type Fit, judgePlatforms, measureConfig } from './measure-size.ts'
import { platformLimits } from './platform-limits.ts'

const script = `#!/bin/bash\n${'echo the same line again and again\n'.repeat(200)}`

function configOf(bytes: number, indent?: number): string {
  const source = encodeDataUrl(randomBytes(bytes))
  return JSON.stringify(
    { ignition: { version: '3.2.0' }, storage: { files: [{ path: '/a', contents: { source } }] } },
    null,
    indent,
  )
}

function fitOf(text: string, name: string): Fit | undefined {
  return judgePlatforms(measureConfig(text, 'a.ign')).find(({ platform }) => platform.name === name)?.fit
}

test('compressing file by file changes the bytes of the config and nothing of what the machine gets', () => {
  const verification = { hash: hashLike('sha256-', Buffer.from(script)) }
  const files = [
    { path: '/a', contents: { source: encodeDataUrl(script), verification } },
    { path: '/b', contents: { source: `data:,${encodeURIComponent(script)}`, compression: '' } },
    { path: '/random', contents: { source: encodeDataUrl(randomBytes(3000)) } },
    { path: '/tiny', contents: { source: 'data:,x' } },
    { path: '/motd', append: [{ source: encodeDataUrl(script) }] },
    { path: '/far', contents: { source: 'https://a.lab/x' } },
  ]
  const text = JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files } }, null, 2)
  const { text: small, compressedFiles } = compressFiles(text, 'a.ign')
  assert.equal(compressedFiles, 3)
  const after = (JSON.parse(small) as IgnitionConfig).storage?.files ?? []
  assert.deepEqual(
    after.map(({ contents, append }) => (contents ?? append?.[0])?.compression),
    ['gzip', 'gzip', undefined, undefined, 'gzip', undefined],
  )
  for (const [index, file] of files.entries())
    assert.deepEqual(inlineFile(after[index] ?? { path: '' }), inlineFile(file))
  assert.ok(small.length < text.length / 2)
  assert.equal(compressFiles(small, 'a.ign').text, small)
})

test('each platform takes a config up to its limit and no further', () => {
  for (const { name, limitBytes, isOfBase64 } of platformLimits) {
    const room = isOfBase64 ? Math.floor(limitBytes / 4) * 3 : limitBytes
    const frame = configOf(0).length
    const fitting = configOf(Math.floor((room - frame) / 4) * 3)
    assert.ok(room - fitting.length < 8, name)
    assert.equal(fitOf(fitting, name), 'inline', name)
    const larger = configOf(Math.floor((room - frame) / 4) * 3 + 9)
    assert.notEqual(fitOf(larger, name), 'inline', name)
  }
})

test('white space, files and the whole config are compressed where that is what makes it fit', () => {
  const limit = 16 * 1024
  assert.equal(fitOf(configOf((limit / 4) * 3 - 300, 8), 'aws'), 'minified')
  const scripts = Array.from({ length: 10 }, (_, index) => ({
    path: `/${index}`,
    contents: { source: encodeDataUrl(script) },
  }))
  const text = JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files: scripts } })
  assert.equal(fitOf(text, 'aws'), 'per-file-gzip')
  const hard = configOf(60_000)
  assert.equal(fitOf(hard, 'vsphere'), 'pointer')
  const units = Array.from({ length: 60 }, (_, index) => ({
    name: `${index}.service`,
    contents: script.slice(0, 2000),
  }))
  const unitText = JSON.stringify({ ignition: { version: '3.2.0' }, systemd: { units } })
  assert.equal(fitOf(unitText, 'vsphere'), 'gzip+base64')
  assert.equal(fitOf(unitText, 'nutanix'), 'pointer')
})

test('the same config is compressed to the same bytes, with no time and no operating system in them', () => {
  const text = JSON.stringify({
    ignition: { version: '3.2.0' },
    storage: { files: [{ path: '/a', contents: { source: encodeDataUrl(script) } }] },
  })
  const source = (JSON.parse(compressFiles(text, 'a.ign').text) as IgnitionConfig).storage?.files?.[0]?.contents?.source
  const bytes = Buffer.from(source?.split(',')[1] ?? '', 'base64')
  assert.deepEqual([...bytes.subarray(4, 8), bytes[9]], [0, 0, 0, 0, 255])
  assert.equal(gunzipSync(bytes).toString(), script)
})

test('a config of specification 2.x is measured, and its files are left alone', () => {
  const files = [{ path: '/a', filesystem: 'root', contents: { source: encodeDataUrl(script) } }]
  const text = JSON.stringify({ ignition: { version: '2.2.0' }, storage: { files } })
  const { minified, perFileGzip, compressedFiles } = measureConfig(text, 'a.ign')
  assert.deepEqual([minified, perFileGzip, compressedFiles], [text.length, text.length, 0])
  assert.throws(() => compressFiles(text, 'a.ign'), { code: 'IGNITION_INVALID' })
})

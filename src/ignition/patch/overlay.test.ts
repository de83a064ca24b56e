import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { File, IgnitionConfig } from '../config.ts'
import { encodeDataUrl } from '../data-url.ts'
import { hashLike } from './file-entry.ts'
import { overlayOf } from './overlay.ts'
import type { PatchedFile } from './patch.ts'

const wanted: PatchedFile = { path: '/etc/a', mode: 0o644, contents: Buffer.from('new'), part: 'files' }

function base(file: Omit<File, 'path'>, version = '3.2.0'): IgnitionConfig {
  return { ignition: { version }, storage: { files: [{ path: '/etc/a', ...file }] } }
}

test('an overlay overrides compression and hash of what was there, since merging keeps what it does not say', () => {
  const contents = {
    source: encodeDataUrl(gzipSync('old'), ''),
    compression: 'gzip',
    verification: { hash: hashLike('sha512-', Buffer.from('old')) },
  }
  const { config, findings } = overlayOf(base({ contents }), { files: [wanted], units: [] })
  assert.deepEqual(findings, [])
  assert.deepEqual(config.storage?.files?.[0]?.contents, {
    source: encodeDataUrl('new'),
    compression: '',
    verification: { hash: hashLike('sha512-', Buffer.from('new')) },
  })
})

test('an overlay has the version of its base, and nothing but the changes', () => {
  const units = [{ name: 'a.service', enabled: true, dropins: [] }]
  const { config } = overlayOf(base({}, '3.4.0'), { files: [], units })
  assert.deepEqual(config, {
    ignition: { version: '3.4.0' },
    systemd: { units: [{ name: 'a.service', enabled: true }] },
  })
})

test('what an overlay cannot take away is refused', () => {
  const appended = base({ append: [{ source: 'data:,x' }] })
  const fetched = base({ contents: { source: 'https://a.lab/', httpHeaders: [{ name: 'A', value: 'b' }] } })
  for (const config of [appended, fetched]) {
    const { findings } = overlayOf(config, { files: [wanted], units: [] })
    assert.deepEqual(
      findings.map(({ id, severity }) => `${severity} ${id}`),
      ['error ignition.patch-overlay'],
    )
  }
})

test('kernel arguments are in an overlay of 3.3 and later only', () => {
  const changes = { files: [], units: [], kernelArguments: { shouldExist: ['quiet'], shouldNotExist: [] } }
  assert.equal(overlayOf(base({}, '3.2.0'), changes).config.kernelArguments, undefined)
  assert.deepEqual(overlayOf(base({}, '3.3.0'), changes).config.kernelArguments, changes.kernelArguments)
})

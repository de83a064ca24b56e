import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { peer } from '../../testkit/peers.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { renderUnit } from './unit-file.ts'

test('words of a command reach the program as they are, whatever is in them', () => {
  const text = renderUnit({ name: 'mirror', argv: ['/bin/echo', 'a b', '50%', '$HOME', 'say "x"', 'c:\\d'], env: {} })
  assert.match(text, /^ExecStart="\/bin\/echo" "a b" "50%%" "\$\$HOME" "say \\"x\\"" "c:\\\\d"$/m)
})

test('systemd finds nothing wrong with a unit', async (t) => {
  const analyze = peer(t, 'systemd-analyze')
  if (analyze === undefined) return
  const file = join(await tempDir(t), 'sallyport-x-mirror.service')
  await writeFile(file, renderUnit({ name: 'mirror', argv: ['/bin/echo', '100 %', 'a "b"'], env: { NAME: 'a b' } }))
  const said = execFileSync(analyze, ['verify', '--man=no', file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  assert.equal(said, '')
})

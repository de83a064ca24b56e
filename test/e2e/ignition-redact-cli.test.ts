/** `ignition redact`, as a person runs it. */
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { inlineFile } from '../../src/ignition/contents.ts'
import { readIgnitionConfig } from '../../src/ignition/read-config.ts'
import { secretKind } from '../../src/ignition/secret-files.ts'
import { validateIgnition } from '../../src/ignition/validate.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const config = {
  ignition: { version: '3.2.0' },
  storage: { files: [{ path: '/etc/env', contents: { source: 'data:,TOKEN%3Dhunter2-hunter2%0A' } }] },
}

test('the copy is written once, and says where something was taken out', async (t) => {
  const cwd = await tempDir(t)
  await writeFile(join(cwd, 'own.ign'), JSON.stringify(config))
  const first = await runCli(['ignition', 'redact', 'own.ign', '-o', 'copy.ign'], { cwd })
  assert.equal(first.status, 0, first.stderr)
  assert.equal(
    first.stdout,
    'copy.ign: 1 secret taken out; opened again to the last wrapping, none is left\n  /etc/env\n',
  )
  assert.equal((await readFile(join(cwd, 'copy.ign'), 'utf8')).includes('hunter2'), false)
  await writeFile(join(cwd, 'copy.ign'), 'mine')
  const again = await runCli(['ignition', 'redact', 'own.ign', '-o', 'copy.ign'], { cwd })
  assert.deepEqual([again.status, await readFile(join(cwd, 'copy.ign'), 'utf8')], [1, 'mine'])
  const forced = await runCli(['ignition', 'redact', 'own.ign', '-o', 'copy.ign', '--force', '--json'], { cwd })
  assert.deepEqual(JSON.parse(forced.stdout), { output: 'copy.ign', secrets: 1, changed: ['/etc/env'] })
  const printed = await runCli(['ignition', 'redact', 'own.ign', '-o', '-'], { cwd })
  assert.equal(printed.stdout, await readFile(join(cwd, 'copy.ign'), 'utf8'))
  const onto = await runCli(['ignition', 'redact', 'own.ign', '-o', './own.ign', '--force'], { cwd })
  assert.equal(onto.status, 64)
})

test('where a secret would be left nothing is written', async (t) => {
  const cwd = await tempDir(t)
  const map = { path: '/etc/map.json', contents: { source: 'data:,%7B%22hunter2-hunter2%22:1%7D' } }
  await writeFile(
    join(cwd, 'own.ign'),
    JSON.stringify({ ...config, storage: { files: [...config.storage.files, map] } }),
  )
  const { status, stderr } = await runCli(['ignition', 'redact', 'own.ign', '-o', 'copy.ign'], { cwd })
  assert.equal(status, 1)
  assert.match(stderr, /REDACTION_INCOMPLETE/)
  assert.equal(stderr.includes('hunter2'), false)
  assert.deepEqual(await readdir(cwd), ['own.ign'])
})

const realConfigs = '../shared/data/installer/ign'

test('of real bootstrap configs only secret files, and those with SSH keys, are not as they were', async (t) => {
  const names = await readdir(realConfigs).catch(() => undefined)
  if (!names) return t.skip(`${realConfigs} is not here`)
  const cwd = await tempDir(t)
  for (const name of names) {
    const from = join(process.cwd(), realConfigs, name)
    const { status, stderr } = await runCli(['ignition', 'redact', from, '-o', name], { cwd })
    assert.equal(status, 0, stderr)
    const text = await readFile(join(cwd, name), 'utf8')
    const [original, copy] = [readIgnitionConfig(await readFile(from, 'utf8'), name), readIgnitionConfig(text, name)]
    const errors = (own: string) =>
      validateIgnition(own).entries.flatMap(({ severity, path, message }) =>
        severity === 'error' ? [`${path}: ${message}`] : [],
      )
    assert.deepEqual(errors(text), errors(await readFile(from, 'utf8')))
    for (const [index, file] of (original.config.storage?.files ?? []).entries()) {
      const own = copy.config.storage?.files?.[index]
      const [before, after] = [file, own ?? file].map((one) => Buffer.from(inlineFile(one) ?? '').toString('utf8'))
      const isSecret = secretKind(file.path, before ?? '') !== undefined || /ssh-rsa /.test(before ?? '')
      // A Secret can be empty.
      if (!isSecret) assert.equal(after, before, `${name}: ${file.path}`)
      if (/PRIVATE KEY|"auth":|client-key-data/.test(before ?? '')) assert.notEqual(after, before, file.path)
    }
  }
})

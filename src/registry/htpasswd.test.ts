import assert from 'node:assert/strict'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { createAccount, defaultHtpasswd } from './account.ts'
import { Htpasswd, htpasswdLine } from './htpasswd.ts'

async function passwordFile(t: Parameters<typeof tempDir>[0], text: string): Promise<string> {
  const path = join(await tempDir(t), 'htpasswd')
  await writeFile(path, text, { mode: 0o600 })
  return path
}

test('the right password is accepted, again and again; a wrong one and a stranger are not', async (t) => {
  const htpasswd = new Htpasswd(await passwordFile(t, await htpasswdLine('admin', 'open sesame')))
  assert.equal(await htpasswd.accepts('admin', 'open sesame'), true)
  assert.equal(await htpasswd.accepts('admin', 'open sesame'), true)
  assert.equal(await htpasswd.accepts('admin', 'wrong'), false)
  assert.equal(await htpasswd.accepts('stranger', 'open sesame'), false)
})

test('a changed file counts at once, also against a password that was right before', async (t) => {
  const path = await passwordFile(t, await htpasswdLine('admin', 'old'))
  const htpasswd = new Htpasswd(path)
  assert.equal(await htpasswd.accepts('admin', 'old'), true)
  await writeFile(path, `# changed\n${await htpasswdLine('admin', 'new password')}`)
  assert.equal(await htpasswd.accepts('admin', 'old'), false)
  assert.equal(await htpasswd.accepts('admin', 'new password'), true)
})

test('a file that others can read is refused, and told how to mend', async (t) => {
  const path = await passwordFile(t, await htpasswdLine('admin', 'x'))
  await chmod(path, 0o640)
  assert.throws(() => new Htpasswd(path), { code: 'CONFIG_INVALID', hint: `Run: chmod 600 ${path}` })
})

test('a line that is not bcrypt is refused by its number, and the hash is not repeated', async (t) => {
  const path = await passwordFile(t, `\nadmin:{SHA}fEqNCco3Yq9h5ZUglD3CZJT4lBs=\n`)
  assert.throws(
    () => new Htpasswd(path),
    (error: Error) => error.message.includes(`${path}:2`) && !error.message.includes('fEqNCco3'),
  )
})

test('the first user gets a random password in files for the owner alone, and is not replaced', async (t) => {
  const root = join(await tempDir(t), 'root')
  const account = await createAccount(root, 'admin')
  assert.ok(account)
  for (const path of [account.htpasswd, account.passwordFile]) assert.equal((await stat(path)).mode & 0o777, 0o600)
  const password = (await readFile(account.passwordFile, 'utf8')).trim()
  assert.equal(await new Htpasswd(defaultHtpasswd(root)).accepts('admin', password), true)
  assert.equal(await createAccount(root, 'admin'), undefined)
  assert.equal((await readFile(account.passwordFile, 'utf8')).trim(), password)
})

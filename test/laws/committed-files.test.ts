/** What must never be in a committed file. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { version } from '../../src/cli/version.ts'
import { repositoryRoot } from './source-files.ts'

/** Text of every file that Git knows; undefined after the test was marked as skipped. */
async function committed(t: TestContext): Promise<{ path: string; text: string }[] | undefined> {
  const listed = await promisify(execFile)('git', ['ls-files', '-z'], { cwd: repositoryRoot }).catch(() => undefined)
  if (!listed) {
    t.skip('this is no Git checkout')
    return undefined
  }
  const paths = listed.stdout.split('\0').filter(Boolean)
  const texts = await Promise.all(paths.map((path) => readFile(join(repositoryRoot, path), 'utf8').catch(() => '')))
  return paths.map((path, index) => ({ path, text: texts[index] ?? '' }))
}

test('no committed file names the folder of a checkout', async (t) => {
  const files = await committed(t)
  const broken = files?.filter(({ text }) => text.includes(repositoryRoot)).map(({ path }) => path)
  assert.deepEqual(broken ?? [], [])
})

test('no committed file holds a private key or an access key', async (t) => {
  const secret =
    /-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{20}|\bAKIA[A-Z0-9]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b/
  const files = await committed(t)
  const broken = files?.filter(({ text }) => secret.test(text)).map(({ path }) => path)
  assert.deepEqual(broken ?? [], [])
})

test('package-lock.json names no address to download from', async () => {
  const lock = await readFile(join(repositoryRoot, 'package-lock.json'), 'utf8')
  assert.doesNotMatch(lock, /"resolved":/)
})

test('the version that is printed is the version of the package', async () => {
  const { version: packaged } = JSON.parse(await readFile(join(repositoryRoot, 'package.json'), 'utf8')) as {
    version: string
  }
  assert.equal(version, packaged)
})

import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { systemClock } from '../host/clock.ts'
import { digestOf } from '../oci/digest.ts'
import { checkTool } from './extract-check.ts'
import type { ReleaseMarks } from './patch-binary.ts'

const machine = { os: 'linux', architecture: 'amd64' } as const
const image = `quay.io/a/b@${digestOf('release')}`
const marks: ReleaseMarks = { image, version: '4.18.9', architecture: 'multi (linux/amd64)' }

/** Runs a script as a tool; the installer has been told `marks`. */
async function check(t: TestContext, command: string, script: string) {
  const directory = join(await tempDir(t), 'a folder')
  await mkdir(directory)
  const file = join(directory, command)
  await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const from = { image: 'i', path: 'p', pullspec: image, layer: digestOf('layer') }
  const tool = { ...machine, command, fileName: command, places: [], marks: [] }
  const told = command.startsWith('openshift') ? marks : {}
  const extracted = {
    tool,
    file,
    placed: 'written',
    size: 1,
    sha256: '',
    from,
    marks: told,
    missingMarks: [],
    signature: 'unsigned',
  } as const
  const result = await checkTool(extracted, { clock: systemClock, machine })
  assert.deepEqual(await readdir(directory), [command])
  return result
}

test('the installer says what was put into it, also from a path with spaces', async (t) => {
  const says = `echo "$0 v4.18.9"; echo "release image ${image}"; echo "release architecture multi"`
  assert.deepEqual(await check(t, 'openshift-install', says), {
    outcome: 'confirmed',
    says: [`image ${image}`, 'version 4.18.9', 'architecture multi'],
  })
})

test('what is said otherwise, and an image that is not named, are differences', async (t) => {
  const says = `echo "$0 4.18.8"; echo "release architecture arm64"`
  assert.deepEqual(await check(t, 'openshift-install', says), {
    outcome: 'differs',
    differences: [
      `image: it names none, and ${image} was put into it`,
      'version: it says 4.18.8, and 4.18.9 was put into it',
      'architecture: it says arm64, and multi was put into it',
    ],
  })
})

test('a tool is asked in the way that it answers, with a home that is empty and nothing else of this machine', async (t) => {
  const says = '[ "$*" = "version --client" ] && [ -z "$(ls -A "$HOME")" ] && [ -z "$https_proxy" ] && echo "kubectl"'
  assert.deepEqual(await check(t, 'kubectl', says), { outcome: 'confirmed', says: [] })
  assert.equal((await check(t, 'ccoctl', '[ "$*" = --help ]')).outcome, 'confirmed')
})

test('a tool that does not run here is told with the last thing that it said', async (t) => {
  const says = 'echo first >&2; echo "version GLIBC_2.34 not found" >&2; exit 1'
  assert.deepEqual(await check(t, 'oc', says), {
    outcome: 'not-run',
    why: 'it ended with status 1: version GLIBC_2.34 not found',
  })
})

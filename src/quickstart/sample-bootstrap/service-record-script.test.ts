import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { peer } from '../../../testkit/peers.ts'
import { makeBootstrap } from '../../../testkit/sample-bootstrap.ts'
import { openShellSandbox, type ServiceRecord } from '../../../testkit/shell-sandbox.ts'

/** Runs a script that uses the library; gives its records without their times, which are checked. */
async function recordsOf(t: TestContext, lines: readonly string[]): Promise<readonly object[]> {
  const document = await makeBootstrap()
  document.write('/usr/local/bin/sample.sh', ['#!/usr/bin/env bash', ...lines, ''].join('\n'))
  const sandbox = await openShellSandbox(t, document)
  sandbox.run('sample.sh', 'sample')
  return (await sandbox.records('sample')).map(withoutTime)
}

function withoutTime({ timestamp, ...rest }: ServiceRecord): object {
  assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  return rest
}

const library = '. /usr/local/bin/bootstrap-service-record.sh'
const lastLine = 'the last line of the journal'

test('a service that goes well leaves its start, its stages and its end', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const records = await recordsOf(t, [
    'set -e',
    library,
    'record_service_stage_start one',
    'record_service_stage_success',
  ])
  assert.deepEqual(records, [
    { phase: 'service start' },
    { stage: 'one', phase: 'stage start' },
    { stage: 'one', phase: 'stage end', result: 'success' },
    { phase: 'service end', result: 'success' },
  ])
})

test('a stage that is said to fail names its line, and the service goes on', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const records = await recordsOf(t, [
    library,
    'record_service_stage_start one',
    'record_service_stage_failure',
    'true',
  ])
  assert.deepEqual(
    records.map((record) => ({ ...record, ...('errorLine' in record && { errorLine: lineAndFunction(record) }) })),
    [
      { phase: 'service start' },
      { stage: 'one', phase: 'stage start' },
      { stage: 'one', phase: 'stage end', result: 'failure', errorLine: '4 main', errorMessage: lastLine },
      { phase: 'service end', result: 'success' },
    ],
  )
})

function lineAndFunction({ errorLine = '' }: { readonly errorLine?: unknown }): string {
  assert.match(String(errorLine), /\/usr\/local\/bin\/sample\.sh$/)
  return String(errorLine).split(' ').slice(0, 2).join(' ')
}

test('a script that ends within a stage ends the stage first, both with the words of the journal', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const records = await recordsOf(t, [
    'set -eE',
    library,
    'record_service_stage_start one',
    'work() { false; }',
    'work',
  ])
  const said = records.map((record) =>
    'errorLine' in record ? { ...record, errorLine: lineAndFunction(record) } : record,
  )
  const failure = { result: 'failure', errorLine: '1 work', errorMessage: lastLine }
  assert.deepEqual(said.slice(2), [
    { stage: 'one', phase: 'stage end', ...failure },
    { phase: 'service end', ...failure },
  ])
})

test('what runs before its service says that it is a pre-command', async (t) => {
  if (peer(t, 'jq') === undefined) return
  assert.deepEqual(await recordsOf(t, ['PRE_COMMAND=prepare', library]), [
    { preCommand: 'prepare', phase: 'pre-command start' },
    { preCommand: 'prepare', phase: 'pre-command end', result: 'success' },
  ])
})

test('a second run goes on in the same file', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const document = await makeBootstrap()
  document.write('/usr/local/bin/sample.sh', `${library}\n`)
  const sandbox = await openShellSandbox(t, document)
  sandbox.run('sample.sh', 'sample')
  sandbox.run('sample.sh', 'sample')
  assert.equal((await sandbox.records('sample')).length, 4)
})

test('records have the keys of real ones, in their order', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const real = join('..', 'shared', 'data', 'installer', 'service-records', 'release-image-x509-then-ok-generated.json')
  if (!existsSync(real)) return t.skip('the real records are not here')
  const document = await makeBootstrap()
  document.write('/usr/local/bin/sample.sh', `${library}\nrecord_service_stage_start a\nrecord_service_stage_failure\n`)
  const sandbox = await openShellSandbox(t, document)
  sandbox.run('sample.sh', 'sample')
  const order = (records: readonly object[]) => Object.keys(records.find((record) => 'errorLine' in record) ?? {})
  const own = await sandbox.records('sample')
  assert.deepEqual(order(own), order(JSON.parse(readFileSync(real, 'utf8')) as object[]))
  const text = await sandbox.read('/var/log/openshift/sample.json')
  assert.equal(text, `${JSON.stringify(own, undefined, 2)}\n`)
})

test('a file that cannot be read as JSON stays as it is', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const document = await makeBootstrap()
  document.write('/usr/local/bin/sample.sh', `set -e\n${library}\n`)
  const sandbox = await openShellSandbox(t, document)
  const file = join(sandbox.root, 'var/log/openshift/sample.json')
  await mkdir(join(sandbox.root, 'var/log/openshift'), { recursive: true })
  await writeFile(file, '[{"phase":')
  assert.notEqual(sandbox.run('sample.sh', 'sample').status, 0)
  assert.equal(readFileSync(file, 'utf8'), '[{"phase":')
})

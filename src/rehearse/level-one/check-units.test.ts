import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeBootstrap } from '../../../testkit/sample-bootstrap.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { readBootstrap } from '../../openshift/bootstrap/bootstrap-config.ts'
import { checkUnits } from './check-units.ts'

interface Shape {
  readonly units?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
}

async function found({ units = {}, files = {} }: Shape) {
  const document = await makeBootstrap()
  for (const [name, contents] of Object.entries(units)) document.units.push({ name, contents, enabled: true })
  for (const [path, text] of Object.entries(files)) document.write(path, text)
  const { config } = readIgnitionConfig(document.toString(), 'x.ign')
  const findings = checkUnits(readBootstrap(config, { fileName: 'x.ign' }))
  return findings
    .filter(({ severity }) => severity !== 'info')
    .map(({ id, summary, where }) => ({ id, summary, where }))
}

const install = '[Install]\nWantedBy=multi-user.target\n'

test('the units of the installer are sound', async () => {
  assert.deepEqual(await found({}), [])
})

test('a line that is neither section nor assignment is told, once for each file, with its place', async () => {
  const [first, ...others] = await found({
    files: { '/etc/systemd/system/own.service': '[Unit]\nDescription=own\nWants network\n[Service\nnothing\n' },
  })
  assert.equal(first?.id, 'rehearse.unit-invalid')
  assert.match(first?.summary ?? '', /own\.service .* line 3 is no assignment: Wants network/)
  assert.deepEqual(first?.where, { file: '/etc/systemd/system/own.service', line: 3 })
  assert.deepEqual(others, [])
})

for (const [what, contents, expected] of [
  ['no command', `[Service]\nType=simple\n${install}`, /no ExecStart=/],
  ['a type that there is not', `[Service]\nType=once\nExecStart=/bin/true\n${install}`, /Type=once is none/],
  ['a relative path', `[Service]\nExecStart=bin/run.sh\n${install}`, /bin\/run\.sh is no absolute path/],
  ['a section of another kind', `[Mount]\nWhat=a\n[Service]\nExecStart=/bin/true\n${install}`, /no section \[Mount\]/],
] as const) {
  test(`a service with ${what} is not taken by systemd`, async () => {
    const [first] = await found({ units: { 'own.service': contents } })
    assert.equal(first?.id, 'rehearse.unit-invalid')
    assert.match(first?.summary ?? '', expected)
  })
}

test('continued lines, comments, resets and commands without a path are fine', async () => {
  const unit = `# comment\n[Service]\nType=oneshot\nExecStart=\nExecStart=-/bin/sh -c 'a \\\n  b' \\\n  # not ended\n  c\nExecStartPre=+mkdir /x\n${install}`
  assert.deepEqual(await found({ units: { 'own.service': unit } }), [])
})

test('a unit that waits for itself through another is a circle', async () => {
  const unit = (after: string) => `[Unit]\nAfter=${after}\n[Service]\nExecStart=/bin/true\n${install}`
  const [first] = await found({ units: { 'a.service': unit('b.service'), 'b.service': unit('a.service') } })
  assert.equal(first?.id, 'rehearse.unit-cycle')
  assert.match(first?.summary ?? '', /^a\.service, b\.service wait for each other/)
})

test('a script that a unit starts must be there, and be executable', async () => {
  const unit = `[Service]\nExecStart=/usr/local/bin/own.sh --now\n${install}`
  const [missing] = await found({ units: { 'own.service': unit } })
  assert.equal(missing?.id, 'rehearse.script-missing')
  assert.deepEqual(missing?.where, { file: '/etc/systemd/system/own.service', line: 2 })
  const [mode] = await found({ units: { 'own.service': unit }, files: { '/usr/local/bin/own.sh': '#!/bin/bash\n' } })
  assert.equal(mode?.id, 'rehearse.script-not-executable')
  assert.match(mode?.summary ?? '', /has mode 0644/)
})

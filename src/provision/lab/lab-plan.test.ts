import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownError } from '../../errors/known-error.ts'
import { checkLabId, hostsFiles, labNames, namespaceName } from './lab-plan.ts'

const plan = { id: 'demo', subnet: 0, upstreamNames: ['quay.io', 'registry.redhat.io'], nodes: 2 }

test('names of the Internet are known at the connected site and the bastion, and not behind the gap', () => {
  const { connected, bastion, closed } = hostsFiles(labNames(plan))
  for (const name of plan.upstreamNames) {
    assert.ok(connected.includes(`198.18.0.2 ${name}\n`))
    assert.ok(bastion.includes(`198.18.0.2 ${name}\n`))
    assert.ok(!closed.includes(name))
  }
})

test('one name leads to the mirror from every site, by the address that the site can reach', () => {
  const files = hostsFiles(labNames(plan))
  assert.ok(files.connected.includes('198.18.0.1 mirror.demo.lab\n'))
  assert.ok(files.bastion.includes('198.18.0.129 mirror.demo.lab\n'))
  assert.ok(files.closed.includes('198.18.0.129 mirror.demo.lab\n'))
  assert.ok(files.closed.includes('198.18.0.130 node-1.demo.lab\n'))
})

test('the mirror has the name that the site calls it by, too', () => {
  const { connected, bastion, closed } = hostsFiles(labNames({ ...plan, bastionNames: ['registry.example.com'] }))
  assert.ok(connected.includes('198.18.0.1 registry.example.com\n'))
  for (const file of [bastion, closed]) assert.ok(file.includes('198.18.0.129 registry.example.com\n'))
})

test('a name that could be a path, a flag or another lab is refused', () => {
  for (const id of ['', '-a', 'a-', 'A', 'a/b', '../a', 'a b', 'a'.repeat(33)]) {
    assert.throws(
      () => checkLabId(id),
      (error) => error instanceof KnownError && error.code === 'USAGE',
    )
  }
  assert.equal(checkLabId('a-1'), 'a-1')
})

test('no two labs share a namespace', () => {
  assert.notEqual(namespaceName('a', 'closed'), namespaceName('a-closed', 'closed'))
})

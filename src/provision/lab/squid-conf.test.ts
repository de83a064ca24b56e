import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readAccessLog, renderSquidConf } from './squid-conf.ts'

test('the proxy serves nobody without a password, and keeps to its folder', () => {
  const conf = renderSquidConf({
    listen: ['198.18.0.129:3128', '198.18.0.1:3128'],
    folder: '/run/lab/squid',
    passwordProgram: '/usr/lib/squid/basic_ncsa_auth',
    user: 'proxy',
  })
  const lines = conf.split('\n')
  const rules = lines.filter((line) => line.startsWith('http_access'))
  assert.deepEqual(rules, ['http_access allow authenticated', 'http_access deny all'])
  assert.ok(lines.includes('http_port 198.18.0.1:3128'))
  assert.ok(lines.includes('cache_effective_user proxy'))
  for (const path of conf.match(/\/[^\s:]+/g) ?? []) assert.match(path, /^\/(run\/lab\/squid|usr\/lib\/squid)(\/|$)/)
})

test('the access log says who asked for what, and was refused or not', () => {
  const log = `1795275977.250      0 198.18.1.130 TCP_DENIED/407 3497 GET http://quay.io/x - HIER_NONE/- text/html
1795275977.330      1 198.18.1.130 TCP_TUNNEL/200 169 CONNECT quay.io:443 user HIER_DIRECT/198.18.1.2 -
`
  assert.deepEqual(readAccessLog(log), [
    { at: 1795275977250, client: '198.18.1.130', method: 'GET', target: 'http://quay.io/x', status: 407 },
    {
      at: 1795275977330,
      client: '198.18.1.130',
      method: 'CONNECT',
      target: 'quay.io:443',
      status: 200,
      user: 'user',
    },
  ])
})

test('a log that is cut off, or none at all, is read as far as it goes', () => {
  fc.assert(fc.property(fc.string(), (text) => void readAccessLog(text)))
  assert.deepEqual(readAccessLog('1795275977.330      1 198.18'), [])
})

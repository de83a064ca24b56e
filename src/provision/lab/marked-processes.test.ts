import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listeningSockets } from './marked-processes.ts'

test('only sockets that listen, and on that port, are found', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1388 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 101 1 0 100 0 0 10 0
   1: 0100007F:1389 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 102 1 0 100 0 0 10 0
   2: 0100007F:1388 0100007F:8C3A 01 00000000:00000000 00:00000000 00000000     0        0 103 1 0 20 4 30 10 -1
`
  assert.deepEqual(listeningSockets(table, 5000), ['101'])
  assert.deepEqual(listeningSockets('', 5000), [])
})

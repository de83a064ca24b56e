import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutCache } from './rebuild-command.ts'

const shell = (text: string) => ['/bin/sh', '-c', text]

test('flags of a cache are taken out of the command, however they are written, and nothing else', () => {
  const cases: readonly [readonly string[], readonly string[], readonly string[]][] = [
    [['serve', '/configs'], ['serve', '/configs'], ['/tmp/cache']],
    [['serve', '/configs', '--cache-dir=/tmp/cache'], ['serve', '/configs'], ['/tmp/cache']],
    [
      ['serve', '--cache-dir', '/var/opm/cache', '/configs', '-p', '50051'],
      ['serve', '/configs', '-p', '50051'],
      ['/tmp/cache', '/var/opm/cache'],
    ],
    [
      ['serve', '/configs', '--cache-dir=/cache', '--cache-enforce-integrity=false', '--debug'],
      ['serve', '/configs', '--debug'],
      ['/tmp/cache', '/cache'],
    ],
    [['serve', '/configs', '--cache-enforce-integrity', '--cache-only'], ['serve', '/configs'], ['/tmp/cache']],
    [
      shell('exec opm serve /configs --cache-dir "/my/cache" --cache-enforce-integrity -p 1'),
      shell('exec opm serve /configs -p 1'),
      ['/tmp/cache', '/my/cache'],
    ],
    [['--cache-directory=/x', '--no-cache-dir'], ['--cache-directory=/x', '--no-cache-dir'], ['/tmp/cache']],
    [[], [], ['/tmp/cache']],
  ]
  for (const [command, expected, caches] of cases) {
    const served = withoutCache({ entrypoint: ['/bin/opm'], command }, '/configs')
    assert.deepEqual(served, { entrypoint: ['/bin/opm'], command: expected, caches })
  }
})

test('flags in the entry point count too; what an image does not have it does not get', () => {
  const served = withoutCache({ entrypoint: ['opm', 'serve', '/configs', '--cache-dir=/tmp/cache'] }, '/configs')
  assert.deepEqual(served, { entrypoint: ['opm', 'serve', '/configs'], command: undefined, caches: ['/tmp/cache'] })
})

test('a cache goes only where it has a folder of its own beside the catalog', () => {
  const paths = ['/tmp', '/', '/configs', '/configs/.cache', '/tmp/../etc', 'tmp/x', '', '/data', '/data//x']
  for (const path of paths) {
    const { caches } = withoutCache({ command: ['serve', `--cache-dir=${path}`] }, '/configs')
    assert.deepEqual(caches, ['/tmp/cache'], path)
  }
  const { caches } = withoutCache({ command: ['--cache-dir=/data/opm'] }, '/data/opm/configs')
  assert.deepEqual(caches, ['/tmp/cache'])
})

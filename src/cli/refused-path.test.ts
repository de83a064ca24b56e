import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownError } from '../errors/known-error.ts'
import { knownRefusal } from './refused-path.ts'

function systemError(code: string, syscall: string, path?: string): Error {
  return Object.assign(new Error(`${code}: ${syscall}`), { code, syscall, ...(path !== undefined && { path }) })
}

test('what the system refuses this user is no bug', () => {
  const told = (error: Error) => {
    const known = knownRefusal(error)
    return known instanceof KnownError ? `${known.code}: ${known.message}` : known
  }
  assert.equal(told(systemError('EACCES', 'mkdir', '/a')), 'FILE_UNWRITABLE: This user may not write /a')
  assert.equal(told(systemError('EACCES', 'open', '/a')), 'FILE_UNREADABLE: This user may not open /a')
  assert.equal(told(systemError('EROFS', 'open', '/a')), 'FILE_UNWRITABLE: /a is on a disk that cannot be written to')
  const noDirectory = 'A part of /a/b is a file, where a directory has to be'
  assert.equal(told(systemError('ENOTDIR', 'open', '/a/b')), `FILE_UNREADABLE: ${noDirectory}`)
  assert.equal(told(systemError('ENOTDIR', 'mkdir', '/a/b')), `FILE_UNWRITABLE: ${noDirectory}`)
  for (const other of [systemError('ENOENT', 'open', '/a'), systemError('EPERM', 'kill'), new TypeError('a bug')]) {
    assert.equal(told(other), other)
  }
})

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import { extract } from 'tar-stream'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { type TarEntry, tarFile, writeTar } from './ustar.ts'

async function readBack(entries: readonly TarEntry[]): Promise<{ name: string; linkName: string; content: string }[]> {
  const tar = extract()
  Readable.from(writeTar(entries)).pipe(tar)
  const found: { name: string; linkName: string; content: string }[] = []
  for await (const entry of tar) {
    const { name, linkname } = entry.header
    const content = Buffer.concat(await Readable.from(entry).toArray()).toString()
    found.push({ name, linkName: linkname ?? '', content })
  }
  return found
}

test('whatever name and content an entry has, a reader finds exactly that', async () => {
  const name = fc.stringMatching(/^[a-zé0-9 ._-]{1,60}(?:\/[a-zé0-9 ._-]{1,200}){0,2}x$/)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name, content: fc.string({ maxLength: 1500 }) }), { maxLength: 4 }),
      async (files) => {
        const found = await readBack(files.map((file) => tarFile(file.name, file.content)))
        assert.deepEqual(
          found,
          files.map((file) => ({ ...file, linkName: '', content: Buffer.from(file.content).toString() })),
        )
      },
    ),
    { numRuns: 60 },
  )
})

test('a link keeps a target that is longer than the field for it', async () => {
  const linkName = `${'deep/'.repeat(40)}file`
  assert.deepEqual(await readBack([{ name: 'link', type: 'symlink', linkName }]), [
    { name: 'link', linkName, content: '' },
  ])
})

test('tar of this machine lists the archive without a complaint', async (t) => {
  const path = join(await tempDir(t), 'a.tar')
  const long = `${'a'.repeat(120)}/${'b'.repeat(120)}`
  const entries: TarEntry[] = [{ name: 'etc/', type: 'directory' }, tarFile('etc/motd', 'hello'), tarFile(long, 'long')]
  await writeFile(path, Buffer.concat([...writeTar(entries)]))
  assert.equal(execFileSync('tar', ['-tf', path], { encoding: 'utf8' }), `etc/\netc/motd\n${long}\n`)
})

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { loadRegistriesConf } from './registries-conf.ts'

interface Machine {
  readonly env: { readonly HOME: string }
  readonly systemDir: string
  readonly at: (path: string) => string
}

/** A machine whose files block one registry each: the one named in `files`. */
async function machineWith(t: TestContext, files: Readonly<Record<string, string>>): Promise<Machine> {
  const root = await tempDir(t)
  for (const [path, location] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), `[[registry]]\nlocation = "${location}"\nblocked = true\n`)
  }
  return { env: { HOME: join(root, 'home') }, systemDir: join(root, 'etc'), at: (path) => join(root, path) }
}

const systemFile = 'etc/registries.conf'
const systemDropIn = 'etc/registries.conf.d/10-a.conf'
const userFile = 'home/.config/containers/registries.conf'
const userDropIn = 'home/.config/containers/registries.conf.d/10-b.conf'

test('a machine without files has an empty configuration', async (t) => {
  const { env, systemDir } = await machineWith(t, {})
  assert.deepEqual(await loadRegistriesConf({ env, systemDir }), { conf: { registries: [] }, files: [] })
})

test('drop-ins are read after the main file, the system’s before the user’s, in the order of their names', async (t) => {
  const { env, systemDir, at } = await machineWith(t, {
    [systemFile]: 'main.b',
    'etc/registries.conf.d/20-z.conf': 'main.b',
    [systemDropIn]: 'a.b',
    'etc/registries.conf.d/ignored.toml': 'ignored.b',
    'etc/registries.conf.d/deeper.conf/ignored.conf': 'ignored.b',
    [userDropIn]: 'a.b',
  })
  const { conf, files } = await loadRegistriesConf({ env, systemDir })
  const expected = [systemFile, systemDropIn, 'etc/registries.conf.d/20-z.conf', userDropIn].map(at)
  assert.deepEqual(files, expected)
  assert.deepEqual(
    conf.registries.map(({ prefix, origin }) => [prefix, origin]),
    [
      ['a.b', at(userDropIn)],
      ['main.b', at('etc/registries.conf.d/20-z.conf')],
    ],
  )
})

test('where the user has a file, the system’s file and drop-ins are not read', async (t) => {
  const all = { [systemFile]: 'a.b', [systemDropIn]: 'b.b', [userFile]: 'c.b', [userDropIn]: 'd.b' }
  const { env, systemDir, at } = await machineWith(t, all)
  assert.deepEqual((await loadRegistriesConf({ env, systemDir })).files, [at(userFile), at(userDropIn)])
})

test('a named file goes before the environment and the user’s, and leaves the drop-ins on', async (t) => {
  const { env, systemDir, at } = await machineWith(t, {
    'named.conf': 'n.b',
    'env.conf': 'e.b',
    [userFile]: 'u.b',
    [systemDropIn]: 's.b',
    [userDropIn]: 'd.b',
  })
  const withEnv = { ...env, CONTAINERS_REGISTRIES_CONF: at('env.conf') }
  const dropIns = [systemDropIn, userDropIn].map(at)
  const named = await loadRegistriesConf({ path: at('named.conf'), env: withEnv, systemDir })
  assert.deepEqual(named.files, [at('named.conf'), ...dropIns])
  assert.deepEqual((await loadRegistriesConf({ env: withEnv, systemDir })).files, [at('env.conf'), ...dropIns])
  const alone = await loadRegistriesConf({ path: at('named.conf'), dropInDir: at('empty'), env, systemDir })
  assert.deepEqual(alone.files, [at('named.conf')])
})

test('a named file must exist; a drop-in must be version 2', async (t) => {
  const { env, systemDir, at } = await machineWith(t, { [systemDropIn]: 's.b' })
  await assert.rejects(loadRegistriesConf({ path: at('none.conf'), env, systemDir }), {
    code: 'FILE_UNREADABLE',
    details: { file: at('none.conf') },
  })
  await writeFile(at(systemDropIn), '[registries.search]\nregistries = ["a.b"]')
  await assert.rejects(loadRegistriesConf({ env, systemDir }), {
    code: 'REGISTRIES_CONF_INVALID',
    details: { file: at(systemDropIn) },
  })
})

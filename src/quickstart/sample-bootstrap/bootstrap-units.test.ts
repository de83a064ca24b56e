import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { IgnitionDocument } from '../../../testkit/ignition-document.ts'
import { peer } from '../../../testkit/peers.ts'
import { makeBootstrap } from '../../../testkit/sample-bootstrap.ts'
import { type Cleanup, tempDir } from '../../../testkit/temp-dir.ts'
import { bootstrapEras } from './bootstrap-options.ts'

const unitDirectory = '/etc/systemd/system'

/** Units that the operating system brings, and programs: without them systemd says only that they are missing. */
const foreignUnits = `sysinit.target basic.target shutdown.target multi-user.target network.target network-online.target
  umount.target local-fs.target local-fs-pre.target getty.target NetworkManager.service crio.service rpc-statd.service
  sshd.service systemd-user-sessions.service systemd-journal-gatewayd.service run-ephemeral.mount`.split(/\s+/)
const foreignPrograms = ['/bin/mkdir', '/bin/sh', '/usr/bin/echo', '/usr/bin/systemctl', '/usr/bin/chcon']

/** A root directory with all that systemd would see; gives the units of the sample. */
async function layOut(t: Cleanup, document: IgnitionDocument): Promise<{ root: string; units: string[] }> {
  const root = await tempDir(t)
  const put = async (path: string, text: string, mode = 0o644) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
    await chmod(join(root, path), mode)
  }
  for (const program of [...foreignPrograms, '/usr/lib/systemd/systemd-journal-gatewayd']) await put(program, '', 0o755)
  for (const name of foreignUnits) await put(`/usr/lib/systemd/system/${name}`, foreignUnit(name))
  const isRead = ({ path }: { path: string }) => path.startsWith('/usr/local/bin/') || dirname(path) === unitDirectory
  const files = document.files.filter(isRead)
  for (const { path, mode } of files) await put(path, document.read(path), mode ?? undefined)
  const written = document.units.filter(({ contents }) => contents)
  for (const { name, contents } of written) await put(`${unitDirectory}/${name}`, contents ?? '')
  for (const { name, dropins = [] } of document.units)
    for (const dropin of dropins) await put(`${unitDirectory}/${name}.d/${dropin.name}`, dropin.contents ?? '')
  const paths = [
    ...written.map(({ name }) => `${unitDirectory}/${name}`),
    ...files.map(({ path }) => path).filter((path) => dirname(path) === unitDirectory),
    '/usr/lib/systemd/system/systemd-journal-gatewayd.service',
  ]
  return { root, units: paths.map((path) => join(root, path)) }
}

function foreignUnit(name: string): string {
  if (name.endsWith('.service')) return '[Service]\nExecStart=/usr/bin/echo\n'
  return name.endsWith('.mount') ? '[Mount]\nWhat=tmpfs\nWhere=/run/ephemeral\n' : '[Unit]\nDescription=Of the system\n'
}

test('systemd has nothing to say about a unit of any era and platform', async (t) => {
  const analyze = peer(t, 'systemd-analyze')
  if (analyze === undefined) return
  for (const era of bootstrapEras) {
    for (const platform of ['none', 'baremetal'] as const) {
      const { root, units } = await layOut(t, await makeBootstrap({ era, platform }))
      assert.deepEqual({ era, platform, ...verify(analyze, root, units) }, { era, platform, status: 0, stderr: '' })
    }
  }
})

function verify(analyze: string, root: string, units: readonly string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(analyze, ['verify', '--man=no', `--root=${root}`, ...units], {
    encoding: 'utf8',
  })
  return { status, stderr }
}

test('systemd says it of a unit that is broken, and of a program that is missing', async (t) => {
  const analyze = peer(t, 'systemd-analyze')
  if (analyze === undefined) return
  const document = await makeBootstrap()
  document.editUnit('bootkube.service', (text) =>
    text.replace('bootkube.sh', 'other.sh').replace('on-failure', 'often'),
  )
  document.unit('systemd-journal-gatewayd.service').dropins = [{ name: 'a.conf', contents: '[Service]\nType=none\n' }]
  const { root, units } = await layOut(t, document)
  const { stderr } = verify(analyze, root, units)
  for (const said of [/service restart specifier.*often/, /other\.sh is not executable/, /service type.*none/])
    assert.match(stderr, said)
})

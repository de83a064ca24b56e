import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IgnitionDocument } from '../../../testkit/ignition-document.ts'
import { makeBootstrap } from '../../../testkit/sample-bootstrap.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { readBootstrap } from '../../openshift/bootstrap/bootstrap-config.ts'
import { checkScripts } from './check-scripts.ts'

const env = { PATH: process.env['PATH'] }
const own = '/usr/local/bin/own.sh'

async function checked(change: (document: IgnitionDocument) => void, path = env) {
  const document = await makeBootstrap()
  change(document)
  const { config } = readIgnitionConfig(document.toString(), 'x.ign')
  const bootstrap = readBootstrap(config, { fileName: 'x.ign' })
  return checkScripts(bootstrap, { env: path, signal: new AbortController().signal })
}

async function found(change: (document: IgnitionDocument) => void) {
  const { findings } = await checked(change)
  return findings.map(({ id, severity, summary, where }) => ({ id, severity, summary, where }))
}

test('the scripts of the installer are sound', async () => {
  const { findings, scripts, skipped } = await checked(() => undefined)
  assert.deepEqual([findings, skipped], [[], undefined])
  assert.ok(scripts >= 15)
})

test('what bash does not understand is told with its line', async () => {
  const [first, ...others] = await found((document) =>
    document.write(own, '#!/bin/bash\nif true; then\n  echo\ndone\n'),
  )
  assert.equal(first?.id, 'rehearse.script-invalid')
  assert.match(first?.summary ?? '', /own\.sh does not run: bash -n: syntax error near unexpected token .done/)
  assert.deepEqual([first?.where, others], [{ file: own, line: 4 }, []])
})

test('line ends of Windows are told once, and not as what bash makes of them', async () => {
  const all = await found((document) => document.write(own, '#!/bin/bash\r\nif true; then\r\n  echo\r\nfi\r\n'))
  assert.deepEqual(
    all.map(({ id }) => id),
    ['rehearse.script-invalid'],
  )
  assert.match(all[0]?.summary ?? '', /CR LF/)
})

test('a bootkube.sh that lost its end is known by the mark that it never makes', async () => {
  const [first] = await found((document) =>
    document.edit('/usr/local/bin/bootkube.sh', (text) =>
      text.slice(0, text.lastIndexOf('\n', text.indexOf('.bootkube.done')) + 1),
    ),
  )
  assert.equal(first?.id, 'rehearse.script-invalid')
})

test('a script that many call and nobody brings is one finding with its callers', async () => {
  const [first, ...others] = await found((document) => document.remove('/usr/local/bin/bootstrap-service-record.sh'))
  assert.equal(first?.id, 'rehearse.script-missing')
  assert.match(first?.summary ?? '', /bootstrap-service-record\.sh, which \/usr\/local\/bin\/\S+, .* call$/)
  assert.deepEqual(others, [])
})

test('what an earlier line writes, and what no run of this config reaches, is not missing', async () => {
  const script = `#!/bin/bash
IN_PLACE=false
cat > /usr/local/bin/made.sh <<'END'
echo
END
/usr/local/bin/made.sh
if [ "$IN_PLACE" = true ]; then
  . /usr/local/bin/in-place.sh
fi
`
  assert.deepEqual(await found((document) => document.write(own, script)), [])
})

test('behind a condition that nobody can decide here a missing script is a note', async () => {
  const script = '#!/bin/bash\nif [ -n "$ASKED" ]; then\n  /usr/local/bin/asked.sh\nfi\n'
  const [first] = await found((document) => document.write(own, script))
  assert.deepEqual([first?.id, first?.severity], ['rehearse.script-missing', 'info'])
})

test('a script that is sourced may have any mode, one that is run may not', async () => {
  const call = (text: string) => (document: IgnitionDocument) => {
    document.write('/usr/local/bin/part.sh', '#!/bin/bash\n')
    document.write(own, `#!/bin/bash\n${text} /usr/local/bin/part.sh\n`)
  }
  assert.deepEqual(await found(call('source')), [])
  const [first] = await found(call('exec'))
  assert.equal(first?.id, 'rehearse.script-not-executable')
})

test('without a bash on this machine the syntax is not checked, and the report says so', async () => {
  const { skipped } = await checked(() => undefined, { PATH: '/nonexistent' })
  assert.match(skipped ?? '', /bash is not on this machine/)
})

/**
 * The OCI's own conformance suite, where somebody has built it: SALLYPORT_CONFORMANCE names the test binary made by
 * `go test -c` in opencontainers/distribution-spec `conformance/` (v1.1.1).
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testRegistry } from '../../testkit/test-registry.ts'

test('the OCI conformance suite passes in all four workflows', async (t) => {
  const suite = process.env['SALLYPORT_CONFORMANCE']
  if (suite === undefined) return t.skip('SALLYPORT_CONFORMANCE names no conformance suite')
  const { url } = await testRegistry(t)
  const reports = await tempDir(t)
  const child = spawn(suite, ['-test.v'], {
    cwd: reports,
    env: {
      OCI_ROOT_URL: url,
      OCI_NAMESPACE: 'conformance/one',
      OCI_CROSSMOUNT_NAMESPACE: 'conformance/two',
      OCI_AUTOMATIC_CROSSMOUNT: '1',
      OCI_TEST_PULL: '1',
      OCI_TEST_PUSH: '1',
      OCI_TEST_CONTENT_DISCOVERY: '1',
      OCI_TEST_CONTENT_MANAGEMENT: '1',
      OCI_REPORT_DIR: reports,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  assert.equal(status, 0, output)
  const passed = Number(/([0-9]+) Passed/.exec(output)?.[1])
  assert.ok(passed >= 70, `only ${passed} specifications ran`)
  t.diagnostic(`${passed} specifications passed`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownError } from '../../errors/known-error.ts'
import { failurePolicyOf } from '../../mirror/failure-policy.ts'
import type { FailedImage } from '../../mirror/failures.ts'
import type { ContentClass } from '../../mirror/selection.ts'
import { parseReference } from '../../oci/reference.ts'
import { renderFailures } from './failures.ts'

function failed(name: string, error: KnownError, of: ContentClass = 'additional'): FailedImage {
  const image = {
    source: parseReference(name),
    class: of,
    destination: parseReference('lab.example/x:1'),
    why: 'a test',
  }
  return { image, error }
}

function badGateway(name: string): KnownError {
  const message = `${name}: GET https://quay.io/v2/… answered 502 (attempt 6)`
  return new KnownError('REGISTRY_FAILED', message, {
    details: { host: 'quay.io', status: 502 },
    hint: `Look at ${name}.`,
  })
}

test('two hundred images of a registry that is down are one cause, with its host and answer and one next step', () => {
  const names = Array.from({ length: 200 }, (_, at) => `quay.io/team/image-${at}:1`)
  const lines = renderFailures(names.map((name) => failed(name, badGateway(name))))
  assert.equal(lines[0], 'failed: 200 images, REGISTRY_FAILED: quay.io answered 502')
  assert.match(lines[1] ?? '', /^ {4}quay\.io\/team\/image-0:1: GET .* \(attempt 6\)$/)
  assert.equal(lines.at(-2), '    and 195 images more with this cause (--json lists them all)')
  assert.equal(lines.at(-1), '  next: Look at quay.io/team/image-0:1.')
  assert.equal(lines.length, 8)
})

test('a blob that many images share is told once, with the images that lack it', () => {
  const error = badGateway('quay.io/team/base@sha256:12')
  const lines = renderFailures(['a', 'b', 'c', 'd', 'e'].map((name) => failed(`quay.io/team/${name}:1`, error)))
  assert.equal(lines[2], '      for quay.io/team/a:1, quay.io/team/b:1, quay.io/team/c:1 and 2 more')
  assert.equal(lines.length, 4)
})

test('what is made on this machine is named as the configuration asks for it', () => {
  const lines = renderFailures([failed('sallyport.invalid/catalogs/index:1', badGateway('quay.io/team/index:1'))])
  assert.equal(lines[2], '      for a test')
})

test('different causes stay apart: another code, another host, another answer, another next step', () => {
  const at = (host: string, status: number) =>
    new KnownError('REGISTRY_FAILED', `${host} ${status}`, { details: { host, status } })
  const errors = [
    at('quay.io', 502),
    at('quay.io', 503),
    at('registry.redhat.io', 502),
    new KnownError('REGISTRY_DENIED', 'no', { details: { host: 'quay.io', status: 403 } }),
    new KnownError('MANIFEST_INVALID', 'one'),
    new KnownError('MANIFEST_INVALID', 'two', { hint: 'Something else.' }),
  ]
  const lines = renderFailures(errors.map((error) => failed('quay.io/team/a:1', error)))
  assert.equal(lines.filter((line) => line.startsWith('failed: 1 image, ')).length, errors.length)
})

test('what may be missing is told after what failed, and as what it is', () => {
  const failures = [
    failed('quay.io/op/a:1', badGateway('quay.io/op/a:1'), 'operator'),
    failed('quay.io/team/b:1', badGateway('quay.io/team/b:1')),
  ]
  const titles = renderFailures(failures, failurePolicyOf({ operator: 'warn' })).filter((line) => !line.startsWith(' '))
  assert.deepEqual(titles, [
    'failed: 1 image, REGISTRY_FAILED: quay.io answered 502',
    'missing, as allowed: 1 image, REGISTRY_FAILED: quay.io answered 502',
  ])
  assert.deepEqual(renderFailures([]), [])
})

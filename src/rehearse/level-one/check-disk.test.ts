import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeBootstrap } from '../../../testkit/sample-bootstrap.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { parseReference } from '../../oci/reference.ts'
import { readBootstrap } from '../../openshift/bootstrap/bootstrap-config.ts'
import { checkDisk } from './check-disk.ts'
import type { TriedImage } from './pull-images.ts'

const gibibyte = 1024 ** 3

function pulled(name: string, size: number): TriedImage {
  const digest = `sha256:${Buffer.from(name).toString('hex').padEnd(64, '0')}` as const
  const reference = `quay.io/ocp/${name}@${digest}`
  const layer = { mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', digest, size }
  const config = { ...layer, digest: `sha256:${'f'.repeat(64)}`, size: 10 } as const
  return {
    wanted: { name, reference, use: 'script', isOptional: false, evidence: [], sides: ['bootstrap'] },
    pulls: {
      bootstrap: {
        kind: 'pulled',
        reference,
        endpoint: parseReference(reference),
        isMirror: true,
        insecure: false,
        digest,
        manifest: { kind: 'image', mediaType: '', config, layers: [layer] },
        architecture: 'amd64',
        labels: {},
        sizeBytes: size,
        before: [],
      },
    },
  }
}

async function found(...images: readonly TriedImage[]) {
  const { config } = readIgnitionConfig((await makeBootstrap()).toString(), 'x.ign')
  return checkDisk(readBootstrap(config, { fileName: 'x.ign' }), images).map(({ id, where }) => [id, where?.file])
}

test('a release of a usual size has room', async () => {
  assert.deepEqual(await found(pulled('etcd', gibibyte / 4), pulled('rhel-coreos', gibibyte)), [])
})

test('a node image that is larger than the tmpfs of a live image is told with the line of its size', async () => {
  const file = '/etc/systemd/system/var-ostreecontainer.mount'
  assert.deepEqual(await found(pulled('rhel-coreos', 3 * gibibyte)), [['rehearse.disk-of-live-image', file]])
})

test('images of tens of gibibytes are a warning', async () => {
  assert.deepEqual(await found(pulled('etcd', 30 * gibibyte)), [['rehearse.disk', undefined]])
})

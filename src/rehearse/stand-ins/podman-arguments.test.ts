import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseContainerRun } from './podman-arguments.ts'

const image = `quay.io/a/b@sha256:${'0'.repeat(64)}`

const runs: readonly (readonly [words: string, expected: Partial<ReturnType<typeof parseContainerRun>>])[] = [
  [`--quiet --rm --net=none ${image} image etcd`, { image, command: ['image', 'etcd'], volumes: [] }],
  [
    `--quiet --net=host --rm --log-driver=k8s-file --name etcd-render --volume /opt/openshift:/assets:z ${image} /usr/bin/x render --asset-output-dir=/assets/e`,
    {
      image,
      name: 'etcd-render',
      command: ['/usr/bin/x', 'render', '--asset-output-dir=/assets/e'],
      volumes: [{ host: '/opt/openshift', container: '/assets' }],
    },
  ],
  [
    `--rm --entrypoint=cat ${image} /release-manifests/image-references`,
    { image, command: ['cat', '/release-manifests/image-references'] },
  ],
  [
    `--rm --env ETCDCTL_API=3 --volume /a:/a:ro,z -v=/b:/c --user 0 --entrypoint etcdctl ${image} --dial-timeout=10m endpoint health`,
    {
      image,
      command: ['etcdctl', '--dial-timeout=10m', 'endpoint', 'health'],
      volumes: [
        { host: '/a', container: '/a' },
        { host: '/b', container: '/c' },
      ],
    },
  ],
]

for (const [words, expected] of runs) {
  test(`of podman run ${words.replace(image, 'IMAGE').slice(0, 60)} … image and command are told apart`, () => {
    const run = parseContainerRun(words.split(' '))
    assert.deepEqual({ ...run, ...expected }, run)
  })
}

test('a run without an image is none', () => {
  assert.equal(parseContainerRun(['--rm', '--name', 'x']), undefined)
})

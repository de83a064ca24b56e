import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ignitionConfig } from '../../../testkit/ignition-config.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { readBootstrap } from './bootstrap-config.ts'
import { type ScriptImages, scriptImages } from './script-images.ts'

const library = `#!/bin/bash
image_for() {
    podman run --quiet --rm --net=none "\${RELEASE_IMAGE_DIGEST}" image "\${1}"
}
`

/** What a config with these scripts under /usr/local/bin asks for. */
function imagesOf(scripts: Readonly<Record<string, string>>): ScriptImages {
  const files = { 'release-image.sh': library, ...scripts }
  const paths = Object.entries(files).map(([name, text]) => [`/usr/local/bin/${name}`, text] as const)
  return scriptImages(readBootstrap(ignitionConfig(Object.fromEntries(paths)), { fileName: 'bootstrap.ign' }))
}

/** Each as `name`, `name?` where it is optional, with the conditions behind it. */
function outline({ images }: ScriptImages): readonly string[] {
  return images.map(({ name, isOptional, conditions }) => {
    return [`${name}${isOptional ? '?' : ''}`, ...conditions].join(' ')
  })
}

test('names are read from where scripts ask, with file and line, and comments ask for nothing', () => {
  const found = imagesOf({
    'bootkube.sh': '#!/bin/bash\n# X=$(image_for old)\nA=$(image_for etcd)\nB="$(image_for "pod")" # image_for none\n',
    'crio-configure.sh': '#!/bin/bash\ncat <<EOF > /etc/x\npause = $(image_for pod)\nEOF\n',
  })
  assert.deepEqual(found, {
    images: [
      {
        name: 'etcd',
        isOptional: false,
        conditions: [],
        evidence: [{ file: '/usr/local/bin/bootkube.sh', line: 3 }],
      },
      {
        name: 'pod',
        isOptional: false,
        conditions: [],
        evidence: [
          { file: '/usr/local/bin/bootkube.sh', line: 4 },
          { file: '/usr/local/bin/crio-configure.sh', line: 3 },
        ],
      },
    ],
    literals: [],
    unresolved: [],
  })
})

test('a name behind a variable is what the script put there last; one from outside is told as unresolved', () => {
  const pull = 'coreos_img=rhel-coreos\nuntil IMAGE=$(image_for $coreos_img); do\n sleep 10\ndone\n'
  assert.deepEqual(outline(imagesOf({ 'a.sh': pull })), ['rhel-coreos'])
  assert.deepEqual(outline(imagesOf({ 'a.sh': `coreos_img=x\n${pull}` })), ['rhel-coreos'])
  const okd = pull.replace('until', 'coreos_img=stream-coreos\nuntil')
  assert.deepEqual(outline(imagesOf({ 'a.sh': okd })), ['stream-coreos'])
  const { images, unresolved } = imagesOf({ 'a.sh': 'X=$(image_for "$1")\nY=$(image_for $(cat name))\n' })
  assert.deepEqual(images, [])
  assert.deepEqual(
    unresolved.map(({ text, at }) => `${at.line} ${text}`),
    ['1 "$1"', '2 $(cat'],
  )
})

test('what a script can do without is optional: a fallback, an arm that nobody can decide here, each of two names', () => {
  assert.deepEqual(outline(imagesOf({ 'a.sh': 'X=$(image_for keepalived || echo "none")\n' })), ['keepalived?'])
  const arms = `if [ "$PLATFORM" = baremetal ]; then
  X=$(image_for ironic)
else
  X=$(image_for coredns)
fi
Y=$(image_for "\${IMAGE_NAME:-etcd}")
[ -n "$Z" ] && Z=$(image_for haproxy)
case $PLATFORM in
  vsphere) Q=$(image_for runtimecfg) ;;
esac
R=$(image_for pod)
`
  assert.deepEqual(outline(imagesOf({ 'a.sh': arms })), [
    'ironic? [ "$PLATFORM" = baremetal ]',
    'coredns? not [ "$PLATFORM" = baremetal ]',
    'etcd',
    'haproxy?',
    'runtimecfg? $PLATFORM',
    'pod',
  ])
  const choice = 'if is_okd; then img=stream-coreos; else img=rhel-coreos; fi\nX=$(image_for $img)\n'
  assert.deepEqual(outline(imagesOf({ 'a.sh': choice })), ['stream-coreos?', 'rhel-coreos?'])
})

test('conditions that the script itself decides are decided: constants, and markers of an earlier run', () => {
  const script = `IN_PLACE=false
if [ "$IN_PLACE" = true ]; then
  A=$(image_for never)
else
  A=$(image_for always)
fi
if [ ! -f .pivot-done ]; then
  B=$(image_for first-boot)
fi
`
  assert.deepEqual(outline(imagesOf({ 'a.sh': script })), ['always', 'first-boot'])
})

test('other ways to ask count too: lists, the release image run by hand, a function that does the same', () => {
  const script = `for name in etcd pod; do
  podman pull "$(image_for $name)"
done
X=$(podman run --quiet --rm \\
    --net=none "$RELEASE_IMAGE" image hyperkube)
function pullspec {
  podman run --rm "$RELEASE_IMAGE" image "$1"
}
Y=$(pullspec coredns)
`
  assert.deepEqual(outline(imagesOf({ 'a.sh': script })), ['etcd', 'pod', 'hyperkube', 'coredns'])
})

test('images that scripts, units and quadlets name themselves are found; the release image is not among them', () => {
  const digest = `sha256:${'5'.repeat(64)}`
  const config = ignitionConfig(
    {
      '/usr/local/bin/release-image-download.sh': `#!/bin/bash\nRELEASE_IMAGE=quay.io/ocp/release@${digest}\n`,
      '/usr/local/bin/a.sh': `#!/bin/bash\npodman pull localhost:5000/tools:1\ncurl https://quay.io/v2/x\ncp a.b/c d.e/f\n`,
      '/etc/containers/systemd/x.container': '[Container]\n#Image=quay.io/no/no:1\nImage=registry.lab/x:1\n',
    },
    [{ name: 'y.service', contents: `[Service]\nExecStart=podman run --rm quay.io/a/b@${digest}\n` }],
  )
  const { literals } = scriptImages(readBootstrap(config, { fileName: 'bootstrap.ign' }))
  assert.deepEqual(
    literals.map(({ text, evidence }) => [text, ...evidence.map(({ file, line }) => `${file}:${line}`)]),
    [
      ['localhost:5000/tools:1', '/usr/local/bin/a.sh:2'],
      ['registry.lab/x:1', '/etc/containers/systemd/x.container:3'],
      [`quay.io/a/b@${digest}`, '/etc/systemd/system/y.service:2'],
    ],
  )
})

const data = '../shared/data/installer'
const core = [
  'machine-config-operator',
  'machine-os-content',
  'etcd',
  'pod',
  'cluster-config-operator',
  'cluster-kube-apiserver-operator',
  'cluster-kube-controller-manager-operator',
  'cluster-kube-scheduler-operator',
  'hyperkube',
  'cluster-bootstrap',
  'coredns',
  'mdns-publisher',
  'haproxy-router',
  'baremetal-runtimecfg',
]
const keepalived = ['cluster-ingress-operator', 'cloud-credential-operator', 'keepalived-ipfailover?']
const signer = ['kube-client-agent', 'kube-etcd-signer-server']
const realConfigs: readonly (readonly [file: string, names: readonly string[]])[] = [
  ['jds2001-ocp42-disconnected-spec2.2-bootstrap.ign', [...core, ...signer, 'keepalived-ipfailover']],
  ['hupiper-ocp43-spec2.2-bootstrap.ign', [...core, ...signer, ...keepalived]],
  ['mebasoglu-okd45-bootstrap.ign', [...core, ...signer, ...keepalived, 'cluster-etcd-operator?']],
  ['rhtelco-ocp46-spec3-bootstrap.ign', [...core, ...keepalived, 'cluster-etcd-operator', 'cluster-policy-controller']],
]

for (const [file, names] of realConfigs) {
  test(`${file} asks for what its scripts say, and for nothing else`, (t) => {
    const path = `${data}/ign/${file}`
    if (!existsSync(path)) return t.skip(`${path} is not here`)
    const { config } = readIgnitionConfig(readFileSync(path, 'utf8'), file)
    const found = scriptImages(readBootstrap(config, { fileName: file }))
    assert.deepEqual(outline(found).toSorted(), names.toSorted())
    assert.deepEqual([found.unresolved, found.literals], [[], []])
  })
}

test('of 4.6, where the table of versions and a real config meet, both say the same', (t) => {
  const path = `${data}/bootstrap-matrix.json`
  const real = `${data}/ign/rhtelco-ocp46-spec3-bootstrap.ign`
  if (!existsSync(path) || !existsSync(real)) return t.skip(`${data} is not here`)
  const { versions } = JSON.parse(readFileSync(path, 'utf8')) as { versions: { version: string; images: string[] }[] }
  const { config } = readIgnitionConfig(readFileSync(real, 'utf8'), real)
  const names = scriptImages(readBootstrap(config, { fileName: real })).images.map(({ name }) => name)
  // The table begins at 4.8, which asks for the same names as this config.
  assert.deepEqual(names.toSorted(), versions.find(({ version }) => version === '~4.8')?.images.toSorted())
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ignitionConfig } from '../../../testkit/ignition-config.ts'
import { readBootstrap } from './bootstrap-config.ts'
import { scriptImages } from './script-images.ts'
import { type ShellCommand, shellCommands } from './shell-lines.ts'
import { parseUnitText } from './unit-text.ts'

function outline(commands: readonly ShellCommand[]): readonly string[] {
  return commands.map(({ line, text, conditions, functionName }) => {
    const around = conditions.map((one) => `${one.isNegated ? '!' : ''}{${one.text}}`).join('')
    return `${line} ${functionName ?? '-'} ${around} ${text}`
  })
}

test('commands have their lines, the conditions around them and the function they are in', () => {
  const script = `#!/bin/bash
run() {
    a --one \\
      --two; b "x; y" # c
}
if [ -f x ]; then
    c 'it # is'
elif d; then e
else
    f $(g; h)
fi
for i in 1 2; do
    j
done
cat <<'EOF'
k $(l)
EOF
cat <<-END
m $(n)
o
	END
p
`
  assert.deepEqual(outline(shellCommands(script)), [
    '3 run  a --one --two',
    '3 run  b "x; y"',
    "7 - {[ -f x ]} c 'it # is'",
    '8 - !{[ -f x ]}{d} e',
    '10 - !{[ -f x ]}!{d} f $(g; h)',
    '12 -  for i in 1 2',
    '13 -  j',
    "15 -  cat <<'EOF'",
    '18 -  cat <<-END',
    '19 -  m $(n)',
    '22 -  p',
  ])
})

const pieces = fc.array(
  fc.constantFrom(
    'if ',
    'then',
    'fi',
    ';',
    '\n',
    ' ',
    '"',
    "'",
    '$(image_for ',
    ')',
    '#',
    '\\',
    '<<EOF',
    'EOF',
    'case x in',
    'esac',
    '{',
    '}',
    'f() {',
    'do',
    'done',
    `\${a:-b}`,
    'a=b',
    'a=(b c)',
    'for a in b $c',
    '[ "$a" = b ]',
    '&&',
    '||',
    'podman run x image y',
    'quay.io/a/b:1',
  ),
  { maxLength: 40 },
)

test('of any text: no reader throws, and what it finds stands in the text', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        pieces.map((words) => words.join(' ')),
        fc.string({ maxLength: 200 }),
      ),
      (text) => {
        const lines = text.split('\n').length
        assert.ok(shellCommands(text).every(({ line }) => line >= 1 && line <= lines))
        assert.ok(parseUnitText(text, '/x').every(({ at }) => at.line >= 1 && at.line <= lines))
        const paths = [
          '/usr/local/bin/release-image.sh',
          '/etc/containers/registries.conf',
          '/etc/hosts',
          '/root/.docker/config.json',
          '/opt/openshift/manifests/a.yaml',
          '/opt/openshift/tls/a.crt',
          '/etc/systemd/system/a.service',
        ]
        const bootstrap = readBootstrap(ignitionConfig(Object.fromEntries(paths.map((path) => [path, text]))), {
          fileName: 'b.ign',
        })
        for (const { evidence } of scriptImages(bootstrap).images)
          assert.ok(evidence.every(({ line }) => line <= lines))
      },
    ),
    { numRuns: 500 },
  )
})

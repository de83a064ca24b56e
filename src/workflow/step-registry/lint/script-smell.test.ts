import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LintRule } from './lint-finding.ts'
import { scriptSmells, setsTrap } from './script-smell.ts'

/** The rules that a script breaks, each with its line. */
function smellsOf(script: string): string[] {
  return scriptSmells(script).map(({ rule, line }) => `${rule.replace('steps.', '')}:${line}`)
}

/** Lines that break the rule, and lines that look like it and do not. */
const lines: Partial<Record<LintRule, { readonly bad: readonly string[]; readonly good: readonly string[] }>> = {
  'steps.blind-sleep': {
    bad: [
      'sleep 300',
      'echo wait; sleep 5m',
      'ssh host "true" && sleep 1h',
      'if x; then sleep 9000; fi',
      '(sleep 600) &',
    ],
    good: [
      'sleep 299',
      'sleep 60',
      'sleep "$SECONDS_TO_WAIT"',
      'echo "sleep 600"x',
      'nosleep 900',
      '# sleep 600',
      'my_sleep=600',
    ],
  },
  'steps.misspelled-command': {
    bad: ['rm -f x || ture', 'a && ecoh done', 'a || exti 1', 'a || retrun 0', 'a || flase;', 'a && sleeep 3'],
    good: [
      'a || true',
      'a && tar xf x',
      'a || egrep x y',
      'a || exit 1',
      'a || cut -f1',
      'ture=1',
      'a || rue',
      'a && turn left',
    ],
  },
  'steps.tls-unchecked': {
    bad: [
      'curl -k https://x',
      'curl -sk https://x',
      'curl -fsSLk https://x',
      'curl -sko out https://x',
      'curl --insecure https://x',
      'code=$(curl -o /dev/null -I -k -s https://x)',
      'wget --no-check-certificate https://x',
    ],
    good: [
      'curl -s https://x -okubeconfig',
      'curl --key k --cert c https://x',
      'curl -s https://x | grep -k',
      'curl -H "x-k: 1" https://x',
      'curl --keepalive-time 3 https://x',
      'curl -fsSL https://x/-k/',
    ],
  },
  'steps.host-key-unchecked': {
    bad: [
      'ssh -o StrictHostKeyChecking=no u@h',
      'ssh -o "StrictHostKeyChecking no" u@h',
      'scp -oStrictHostKeyChecking=off a b',
    ],
    good: ['ssh -o StrictHostKeyChecking=accept-new u@h', 'ssh -o StrictHostKeyChecking=yes u@h'],
  },
  'steps.unpinned-image': {
    bad: [
      'podman run quay.io/a/b:latest',
      'oc debug --image=registry.lab:5000/x/y:latest',
      'podman pull "quay.io/a/b:latest"',
    ],
    good: [
      'podman run quay.io/a/b:1.2',
      'podman run quay.io/a/b:latest-dev',
      'export CLI=latest',
      'x=quay.io/a/b@sha256:00',
    ],
  },
  'steps.credentials-left': {
    bad: [
      'cat a > /tmp/new_pull_secret',
      'jq . a >"$XDG_RUNTIME_DIR/pull-secret"',
      'echo "$x" >> ~/.awscred',
      'htpasswd -Bbn u p > /tmp/htpasswd',
    ],
    good: [
      'echo x > "$SHARED_DIR/new_pull_secret"',
      'cat /tmp/pull-secret > /dev/null',
      'grep -q x pull-secret',
      'echo x > /tmp/password.log',
      'echo user:x:1:0 >> /etc/passwd',
      'ls > credentials_requests_files',
      'test $tokens -gt 3',
    ],
  },
}

for (const [rule, { bad, good }] of Object.entries(lines)) {
  test(`${rule} is found in each of its forms, and in nothing that only looks so`, () => {
    const has = (line: string) => scriptSmells(line).some((smell) => smell.rule === rule)
    assert.deepEqual(
      bad.filter((line) => !has(line)),
      [],
    )
    assert.deepEqual(good.filter(has), [])
  })
}

test('who asks again after each sleep does not sleep blindly', () => {
  assert.deepEqual(smellsOf('until ready\ndo\n  sleep 600\ndone\nsleep 600'), ['blind-sleep:5'])
  assert.deepEqual(smellsOf('for i in 1 2; do check && break; sleep 300; done'), [])
})

test('a secret is traced only while set -x is on', () => {
  const reads = 'PASSWORD=$(cat /var/run/vault/password)'
  assert.deepEqual(smellsOf(`set -euxo pipefail\n${reads}`), ['traced-secret:2'])
  assert.deepEqual(smellsOf(`set -o xtrace\nexport AWS_SECRET_ACCESS_KEY="$(cut -d= -f2 x)"`), ['traced-secret:2'])
  assert.deepEqual(smellsOf(`#!/bin/bash -x\n${reads}`), ['traced-secret:2'])
  assert.deepEqual(smellsOf(`set -x\nset +x\n${reads}\nset -x`), [])
  assert.deepEqual(smellsOf(`set -euo pipefail\n${reads}`), [])
  assert.deepEqual(smellsOf('set -x\nTOKEN_FILE=$(mktemp)\nSECRET_NAME=$(oc get secret)'), [])
})

test('with a trap nothing is left behind, as far as can be seen', () => {
  assert.deepEqual(smellsOf('cat a > /tmp/pull-secret\nrm /tmp/pull-secret'), ['credentials-left:1'])
  assert.deepEqual(smellsOf('trap "rm -f /tmp/pull-secret" EXIT\ncat a > /tmp/pull-secret'), [])
})

test('a trap is one that runs something', () => {
  for (const script of ['trap cleanup EXIT', "  trap 'rm x' TERM", 'a; trap x 0', 'if a; then trap x EXIT; fi'])
    assert.ok(setsTrap(script), script)
  for (const script of ['trap - EXIT', "trap '' INT", '# trap x EXIT', 'echo mousetrap x', 'trap -p'])
    assert.ok(!setsTrap(script), script)
})

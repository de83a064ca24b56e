import { execFileSync } from 'node:child_process'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'

/** Programs of others that tests run against. Where each comes from is in `.ci/run`. */
export type Peer =
  | 'skopeo'
  | 'podman'
  | 'docker-registry'
  | 'crane'
  | 'regctl'
  | 'regsync'
  | 'oras'
  | 'helm'
  | 'opm'
  | 'openssl'
  | 'gpg'
  | 'go'
  | 'ignition-validate'
  | 'ignition-validate-new'
  | 'jq'
  | 'systemd-analyze'
  | 'ignition'
  | 'systemctl'
  | 'useradd'
  | 'patch'
  | 'chromium'
  | 'shellcheck'
  | 'tekton-check'
  | 'kubernetes-check'
  | 'ip'
  | 'nft'
  | 'squid'

/** Where Debian's package has the one program that is all of Ignition: it does what the name it is called by says. */
const ignitionFolder = '/usr/lib/dracut/modules.d/30ignition'

/**
 * The path of a peer, or undefined after the test was marked as skipped with the reason.
 *
 * With SALLYPORT_REQUIRE_PEERS=1 a missing peer fails the test instead: a green run then means that it was there.
 * SALLYPORT_OPTIONAL_PEERS names those, separated by spaces, that this machine cannot have.
 */
export function peer(t: Pick<TestContext, 'skip'>, name: Peer): string | undefined {
  const folders = [join(homedir(), 'go', 'bin'), '/usr/local/go/bin', '/usr/sbin', ignitionFolder]
  const path = [process.env['PATH'] ?? '', ...folders].join(delimiter)
  try {
    return execFileSync('/bin/sh', ['-c', `command -v ${name}`], {
      env: { ...process.env, PATH: path },
      encoding: 'utf8',
    }).trim()
  } catch (error) {
    if (isRequired(name)) throw new Error(`${name} is required and not installed`, { cause: error })
    t.skip(`${name} is not installed`)
    return undefined
  }
}

function isRequired(name: Peer): boolean {
  const optional = (process.env['SALLYPORT_OPTIONAL_PEERS'] ?? '').split(' ')
  return process.env['SALLYPORT_REQUIRE_PEERS'] === '1' && !optional.includes(name)
}

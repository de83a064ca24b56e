import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseTools, type Tool, toolsOf } from './tools.ts'

const amd64 = { os: 'linux', architecture: 'amd64' } as const
const arm64 = { os: 'linux', architecture: 'arm64' } as const

function namesOf(tools: readonly Tool[]): string[] {
  return tools.map(({ command, os, architecture }) => `${command} ${os}/${architecture}`)
}

function placesOf(tools: readonly Tool[]): string[] {
  return tools.flatMap(({ places }) => places.map(({ image, path }) => `${image}:${path}`))
}

test('an installation needs openshift-install, oc and ccoctl, out of the images for the release itself first', () => {
  const tools = chooseTools({ releaseArchitecture: 'amd64', commands: 'usual', platform: amd64 })
  assert.deepEqual(namesOf(tools), ['openshift-install linux/amd64', 'oc linux/amd64', 'ccoctl linux/amd64'])
  assert.deepEqual(placesOf(tools), [
    'installer:usr/bin/openshift-install',
    'installer-artifacts:usr/share/openshift/linux_amd64/openshift-install',
    'cli:usr/bin/oc',
    'cli-artifacts:usr/share/openshift/linux_amd64/oc',
    'cloud-credential-operator:usr/bin/ccoctl',
  ])
})

test('tools for another architecture than that of the release come from the artifacts alone', () => {
  const tools = chooseTools({ releaseArchitecture: 'amd64', commands: ['oc', 'openshift-install'], platform: arm64 })
  assert.deepEqual(placesOf(tools), [
    'installer-artifacts:usr/share/openshift/linux_arm64/openshift-install',
    'cli-artifacts:usr/share/openshift/linux_arm64/oc',
  ])
})

test('tools for mac and windows are where oc finds them', () => {
  const places = (os: 'mac' | 'windows', architecture: string) =>
    placesOf(chooseTools({ releaseArchitecture: 's390x', commands: 'usual', platform: { os, architecture } }))
  assert.deepEqual(places('mac', 'arm64'), [
    'installer-artifacts:usr/share/openshift/mac_arm64/openshift-install',
    'cli-artifacts:usr/share/openshift/mac_arm64/oc',
  ])
  assert.deepEqual(places('mac', 'amd64'), [
    'installer-artifacts:usr/share/openshift/mac/openshift-install',
    'cli-artifacts:usr/share/openshift/mac/oc',
  ])
  assert.deepEqual(places('windows', 'amd64'), ['cli-artifacts:usr/share/openshift/windows/oc.exe'])
})

test('installers get image, version and architecture, clients the version, ccoctl nothing', () => {
  const marks = Object.fromEntries(toolsOf('amd64').map(({ command, marks }) => [command, marks.join()]))
  assert.deepEqual(marks, {
    'openshift-install': 'image,version,architecture',
    'openshift-baremetal-install': 'image,version,architecture',
    'openshift-install-fips': 'image,version,architecture',
    oc: 'version',
    'oc.rhel8': 'version',
    'oc.rhel9': 'version',
    kubectl: 'version',
    ccoctl: '',
    'ccoctl.rhel8': '',
    'ccoctl.rhel9': '',
  })
})

test('a tool stands once in the table for each platform', () => {
  for (const architecture of ['amd64', 'arm64', 'ppc64le', 's390x']) {
    const names = namesOf(toolsOf(architecture))
    assert.equal(new Set(names).size, names.length)
    assert.ok(names.includes(`openshift-install linux/${architecture}`))
    assert.ok(names.includes(`ccoctl linux/${architecture}`))
  }
})

test('a command that no payload has, or not for this platform, is refused with those that there are', () => {
  const choose = (command: string, platform: typeof amd64 | typeof arm64) => () =>
    chooseTools({ releaseArchitecture: 'amd64', commands: [command], platform })
  assert.throws(choose('opm', amd64), { code: 'USAGE', hint: /openshift-install, oc, kubectl, .*ccoctl/ })
  assert.throws(choose('ccoctl', arm64), {
    message: /no ccoctl for linux\/arm64/,
    hint: /It has it for linux\/amd64: --command-os/,
  })
})

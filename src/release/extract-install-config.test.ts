import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseInstallConfig } from './extract-install-config.ts'

const parse = (text: string) => parseInstallConfig(text, 'install-config.yaml')

test('platform, feature set, credentials mode and capabilities are read', () => {
  const request = parse(`apiVersion: v1
platform: {aws: {region: eu-west-1}}
featureSet: TechPreviewNoUpgrade
credentialsMode: Manual
capabilities:
  baselineCapabilitySet: None
  additionalEnabledCapabilities: [Storage]
`)
  assert.deepEqual(request, {
    platform: 'aws',
    featureSet: 'TechPreviewNoUpgrade',
    credentialsMode: 'Manual',
    capabilities: { baselineCapabilitySet: 'None', additionalEnabledCapabilities: ['Storage'] },
  })
  assert.deepEqual(parse('apiVersion: v1\nplatform: {none: {}}\n'), { platform: 'none', featureSet: '' })
})

for (const [what, text, why] of [
  ['another version', 'apiVersion: v2\nplatform: {aws: {}}', /apiVersion/],
  ['no platform', 'apiVersion: v1\nplatform: {}', /platform names nothing/],
  ['two platforms', 'apiVersion: v1\nplatform: {aws: {}, gcp: {}}', /platform names aws and gcp/],
  ['no YAML', 'apiVersion: "v1', /install-config\.yaml is no install-config/],
  ['nothing', '', /the document/],
] as const) {
  test(`a file with ${what} is refused with the reason`, () => {
    assert.throws(() => parse(text), { code: 'CONFIG_INVALID', message: why })
  })
}

test('install-configs that people wrote are read', (t) => {
  const directory = join(import.meta.dirname, '../../../shared/data/install-configs')
  if (!existsSync(directory)) return t.skip('the install-configs are not here')
  const platforms = new Map<string, number>()
  for (const file of readdirSync(directory)) {
    const text = readFileSync(join(directory, file), 'utf8')
    if (!/^apiVersion: v1$/m.test(text) || !/^platform:\s*$/m.test(text)) continue
    try {
      const { platform } = parse(text)
      platforms.set(platform, (platforms.get(platform) ?? 0) + 1)
    } catch (error) {
      assert.match(String(error), /is no install-config/, file)
    }
  }
  assert.ok((platforms.get('aws') ?? 0) >= 5 && (platforms.get('none') ?? 0) >= 5, JSON.stringify([...platforms]))
  return undefined
})

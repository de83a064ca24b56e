import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parse } from 'yaml'
import { checkConfiguration } from './check-configuration.ts'
import { loadSite } from './site-configuration.ts'
import { editSite } from './site-edit.ts'
import { platformNames, platformOf } from './site-platforms.ts'
import { siteVariants } from './site-stages.ts'
import { renderImageSetTemplate, renderSiteTemplate, type SiteAnswers } from './site-template.ts'

const label = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,20}[a-z0-9])?$/)
const releases = fc.constantFrom(
  '4.18.9',
  '4.19.0-rc.1',
  'stable-4.18',
  'eus-4.20',
  'quay.io/a/b@sha256:'.padEnd(83, 'a'),
)
const registries = fc.constantFrom('mirror.lab:8443/ocp4', 'registry.example.com', '10.0.0.9:5000/a/b')

const anyAnswers: fc.Arbitrary<SiteAnswers> = fc
  .record({
    name: label,
    baseDomain: fc.array(label, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.')),
    variant: fc.constantFrom(...siteVariants),
    platform: fc.constantFrom(...platformNames),
    release: releases,
    registry: fc.option(registries, { nil: undefined }),
    proxy: fc.option(fc.constant('http://proxy.lab:3128'), { nil: undefined }),
  })
  .map(({ registry, proxy, ...answers }) => {
    const needsMirror = answers.variant === 'disconnected' || answers.variant === 'registry-only'
    const isProxyOnly = answers.variant === 'proxy-only'
    return {
      ...answers,
      registry: isProxyOnly ? undefined : (registry ?? (needsMirror ? 'mirror.lab:8443/ocp4' : undefined)),
      proxy: proxy ?? (isProxyOnly ? 'http://proxy.lab:3128' : undefined),
    }
  })

const answers: SiteAnswers = {
  name: 'c1',
  baseDomain: 'lab.example.com',
  variant: 'disconnected',
  platform: 'none',
  release: '4.18.9',
  registry: 'mirror.lab:8443/ocp4',
}

test('whatever is answered, what is written loads without a finding, and says what was answered', () => {
  fc.assert(
    fc.property(anyAnswers, (given) => {
      const { site, findings } = loadSite({ file: 's.yaml', text: renderSiteTemplate(given) })
      assert.deepEqual(findings, [])
      assert.deepEqual([site.name, site.variant, platformOf(site)], [given.name, given.variant, given.platform])
      assert.deepEqual([site.mirror?.registry, site.proxy?.url], [given.registry, given.proxy])
      assert.deepEqual(checkConfiguration({ file: 'i.yaml', text: renderImageSetTemplate(given) }), [])
    }),
    { numRuns: 300 },
  )
})

test('every field has a line above it that explains it', () => {
  const lines = renderSiteTemplate({ ...answers, platform: 'vsphere', proxy: 'http://p:1' }).split('\n')
  const bare = lines.filter((line, index) => {
    const isField = /^ *[A-Za-z]+:/.test(line)
    return isField && !lines[index - 1]?.trimStart().startsWith('#')
  })
  // The names of secrets are chosen by the user.
  assert.deepEqual(
    bare.map((line) => line.trim()),
    ['pullSecret:', 'vcenter:'],
  )
})

test('a field that is changed in place leaves every other letter as it was', () => {
  const text = renderSiteTemplate(answers)
  const edited = editSite({ file: 's.yaml', text }, [
    { field: 'cluster.computeReplicas', value: '5' },
    { field: 'cluster.networking.machineNetwork[0].cidr', value: '10.4.0.0/16' },
  ])
  assert.equal(
    edited,
    text.replace('computeReplicas: 2', 'computeReplicas: 5').replace('10.0.0.0/16\n    #', '10.4.0.0/16\n    #'),
  )
})

test('how the file is laid out is left alone, too', () => {
  const odd =
    'kind:   Site # ours\nname:  "c1"\n\n\nbaseDomain: a.lab\nvariant: disconnected\nplatform: {none:   {}}\nrelease: {version:  4.18.9}\nmirror:\n    registry: m.lab/a\ncluster: {}\n'
  const edited = editSite({ file: 's.yaml', text: odd }, [{ field: 'release.version', value: '4.18.10' }])
  assert.equal(edited, odd.replace('4.18.9', '4.18.10'))
})

test('a field that is added leaves comments, order and values', () => {
  const text = `# mine\n${renderSiteTemplate(answers)}`
  const edited = editSite({ file: 's.yaml', text }, [
    { field: 'stages.install.timeout', value: '90m' },
    { field: 'mirror.credentials', value: 'pullSecret' },
  ])
  const comments = (yaml: string) => yaml.split('\n').filter((line) => line.trimStart().startsWith('#'))
  assert.deepEqual(comments(edited), comments(text))
  const { stages, mirror, ...others } = parse(edited)
  assert.deepEqual([stages, mirror.credentials], [{ install: { timeout: '90m' } }, 'pullSecret'])
  const { mirror: _, ...before } = parse(text)
  assert.deepEqual(others, before)
  assert.deepEqual(Object.keys(parse(edited)), [...Object.keys(parse(text)), 'stages'])
})

test('a change that the file would not load with is refused, and a secret is', () => {
  const text = renderSiteTemplate(answers)
  const edit = (field: string, value: string) => () => editSite({ file: 's.yaml', text }, [{ field, value }])
  assert.throws(edit('cluster.computeReplcas', '5'), /did you mean "computeReplicas"/)
  assert.throws(
    edit('mirror.password', 'hunter2'),
    (error: Error) => /secret/.test(error.message) && !/hunter2/.test(error.message),
  )
  assert.throws(edit('name.first', 'x'), {
    code: 'USAGE',
    message: '--set name.first: name is a plain value, and has no fields',
  })
  assert.throws(edit('cluster..x', 'x'), { code: 'USAGE' })
  assert.throws(edit('proxy', '{'), { code: 'USAGE' })
})

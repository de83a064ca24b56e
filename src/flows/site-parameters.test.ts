import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadSite } from '../config/site-configuration.ts'
import { siteParameters } from './site-parameters.ts'

const text = `kind: Site
name: c1
baseDomain: example.com
variant: disconnected
platform:
  lab:
    nodes: 2
release:
  version: 4.18.9
mirror:
  registry: mirror.example.com:8443/ocp4
cluster:
  controlPlaneReplicas: 3
`

test('each value that a step goes by is told with its line, or as a default', () => {
  const loaded = loadSite({ file: 'sallyport.yaml', text })
  const of = (step: string) => new Map(siteParameters(loaded, step).map(({ name, ...rest }) => [name, rest]))
  assert.deepEqual(of('04-tools/release').get('release.version'), { value: '4.18.9', by: 'sallyport.yaml line 9' })
  assert.deepEqual(of('01-infrastructure/network').get('platform.lab.nodes'), {
    value: '2',
    by: 'sallyport.yaml line 7',
  })
  assert.deepEqual(of('10-clean-up/evidence').get('teardown'), { value: 'ask', by: 'default' })
  assert.equal(siteParameters(loaded, 'another').length, 0)
})

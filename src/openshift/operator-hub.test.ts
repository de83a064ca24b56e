import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { renderOperatorHub } from './operator-hub.ts'

const plain = `apiVersion: config.openshift.io/v1
kind: OperatorHub
metadata:
  name: cluster
spec:
  disableAllDefaultSources: true
`

test('the sources that a cluster cannot reach are switched off', () => {
  assert.equal(renderOperatorHub(), plain)
  assert.equal(renderOperatorHub({ text: '\n', file: 'operatorhub.yaml' }), plain)
})

test('a file that lets a source stand is kept to the letter', () => {
  const text = `# community operators come through the proxy\n${plain.replace('true', 'false')}  sources:\n    - {name: community-operators, disabled: false}\n`
  assert.equal(renderOperatorHub({ text, file: 'operatorhub.yaml' }), text)
  const sources = `${plain.split('spec:')[0]}spec:\n  sources: [{name: a, disabled: true}]\n`
  const rendered = renderOperatorHub({ text: sources, file: 'operatorhub.yaml' })
  assert.deepEqual(parse(rendered).spec, {
    disableAllDefaultSources: true,
    sources: [{ name: 'a', disabled: true }],
  })
})

test('a file with something else in it is not overwritten', () => {
  const refuses = (text: string, message: RegExp) =>
    assert.throws(() => renderOperatorHub({ text, file: 'f.yaml' }), { code: 'CONFIG_INVALID', message })
  refuses(plain.replace('cluster', 'mine'), /f\.yaml:4:9: not the OperatorHub: metadata\.name is "mine", not cluster/)
  refuses(plain.replace('true', 'perhaps'), /f\.yaml:6:29: .*disableAllDefaultSources/)
  refuses('kind: Secret\n', /f\.yaml:1:1: not the OperatorHub/)
})

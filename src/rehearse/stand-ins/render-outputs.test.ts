import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namedPaths, renderedOutputs } from './render-outputs.ts'

function outputsOf(script: string, argument: string) {
  const path = '/usr/local/bin/bootkube.sh'
  const file = { path, mode: 0o555, sizeBytes: script.length, text: script, isAppended: false }
  const volumes = [{ host: '/opt/openshift', container: '/assets' }]
  const run = { image: 'x', command: ['render', argument], volumes }
  const { folders, files } = renderedOutputs(run, namedPaths(new Map([[path, file]])))
  return { folders, files: Object.keys(files) }
}

test('a container leaves what the script copies from its folder, whatever the version calls it', () => {
  const script = `rm --recursive --force new-bootstrap
    if [ -d new-bootstrap/tls ]; then
      cp new-bootstrap/tls/* tls/
    fi
    cp new-bootstrap/config /etc/kubernetes/config.yaml
    cp --recursive new-bootstrap/secrets/all-serving /etc
    # cp new-bootstrap/commented/* .
    cp "$PWD/new-bootstrap/pods"/* /etc/kubernetes/manifests/`
  assert.deepEqual(outputsOf(script, '--asset-output-dir=/assets/new-bootstrap'), {
    folders: ['/opt/openshift/new-bootstrap'],
    files: [
      '/opt/openshift/new-bootstrap/tls/rehearsal.yaml',
      '/opt/openshift/new-bootstrap/config',
      '/opt/openshift/new-bootstrap/secrets/all-serving/rehearsal.yaml',
      '/opt/openshift/new-bootstrap/pods/rehearsal.yaml',
    ],
  })
})

test('an output below the first folder gets only what is copied from there', () => {
  const script = 'cp auth-bootstrap/manifests/* manifests/\ncp auth-bootstrap/other/* manifests/'
  assert.deepEqual(outputsOf(script, '--asset-output-dir=/assets/auth-bootstrap/manifests'), {
    folders: ['/opt/openshift/auth-bootstrap/manifests'],
    files: ['/opt/openshift/auth-bootstrap/manifests/rehearsal.yaml'],
  })
})

test('an output file is made as it is named, and what is outside the volume is not made', () => {
  const named = outputsOf('', '--config-output-file=/assets/x/config')
  assert.deepEqual(named, { folders: [], files: ['/opt/openshift/x/config'] })
  assert.deepEqual(outputsOf('', '--dest-dir=/tmp/x'), { folders: [], files: [] })
})

import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'
import { KnownError } from '../errors/known-error.ts'
import { systemClock } from '../host/clock.ts'
import { type HelmProgram, renderChart } from './render.ts'

/** A program that stands in for helm. */
async function program(t: Cleanup, script: string): Promise<HelmProgram> {
  const path = join(await tempDir(t), 'helm')
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return { path, env: { PATH: '/usr/bin:/bin', HOME: '/nobody', HELM_NAMESPACE: 'other' }, clock: systemClock }
}

async function rendering(t: Cleanup, values: readonly string[] = []) {
  const directory = join(await tempDir(t), 'charts')
  const signal = new AbortController().signal
  return { what: 'chart app 1.0.0', path: '/charts/app.tgz', kubeVersion: '1.33.0', values, directory, signal }
}

test('helm runs in a home of its own, which is gone afterwards', async (t) => {
  const helm = await program(t, 'env; echo "$@"; touch "$HOME/file"; mkdir -p "$HELM_CACHE_HOME"')
  const asked = await rendering(t, ['/v/a.yaml', '/v/b.yaml'])
  const text = await renderChart(asked, helm)
  const variables = new Map(text.split('\n').map((line) => line.split('=', 2) as [string, string]))
  for (const name of [
    'HOME',
    'HELM_CONFIG_HOME',
    'HELM_DATA_HOME',
    'HELM_REPOSITORY_CONFIG',
    'HELM_PLUGINS',
    'KUBECONFIG',
  ])
    assert.ok(variables.get(name)?.startsWith(`${asked.directory}/helm-`), name)
  assert.equal(variables.get('HELM_NAMESPACE'), undefined)
  assert.match(text, /template release-name \/charts\/app\.tgz --include-crds --kube-version 1\.33\.0/)
  assert.match(text, /--api-versions route\.openshift\.io\/v1 .*--values \/v\/a\.yaml --values \/v\/b\.yaml$/m)
  assert.deepEqual(await readdir(asked.directory), [])
})

test('without helm it is said that there is none, and where it is to be had', async (t) => {
  const directory = await tempDir(t)
  await mkdir(join(directory, 'bin'))
  const helm = { env: { PATH: join(directory, 'bin') }, clock: systemClock }
  await assert.rejects(
    renderChart(await rendering(t), helm),
    (error) =>
      error instanceof KnownError &&
      error.code === 'HELM_ABSENT' &&
      /chart app 1\.0\.0.*there is no program helm/.test(error.message) &&
      /helm\.sh/.test(error.hint),
  )
})

test('what helm complains about is told, with the values that it had', async (t) => {
  const helm = await program(t, 'echo "WARNING: x" >&2; echo "Error: .Values.password is required" >&2; exit 1')
  await assert.rejects(
    renderChart(await rendering(t, ['/v/a.yaml']), helm),
    (error) =>
      error instanceof KnownError &&
      error.code === 'HELM_FAILED' &&
      error.message === 'chart app 1.0.0: helm cannot render it with /v/a.yaml: Error: .Values.password is required',
  )
})

test('a rendering that does not end is ended', async (t) => {
  const helm = await program(t, 'exec sleep 600')
  const clock = Object.assign(new FakeClock(), {
    after: (_: number, action: () => void) => {
      queueMicrotask(action)
      return () => undefined
    },
  })
  const asked = await rendering(t)
  await assert.rejects(
    renderChart(asked, { ...helm, clock }),
    (error) =>
      error instanceof KnownError && error.code === 'HELM_FAILED' && /not done after 120 s/.test(error.message),
  )
  assert.deepEqual(await readdir(asked.directory), [])
})

test('an interrupted rendering ends with the reason of the interruption', async (t) => {
  const helm = await program(t, 'exec sleep 600')
  const stop = new AbortController()
  const reason = new Error('stopped')
  const asked = { ...(await rendering(t)), signal: stop.signal }
  const running = renderChart(asked, helm)
  stop.abort(reason)
  await assert.rejects(running, reason)
})

test('a chart that renders to more than anybody reads is given up', async (t) => {
  const helm = await program(t, 'exec cat /dev/zero')
  await assert.rejects(
    renderChart(await rendering(t), helm),
    (error) => error instanceof KnownError && error.code === 'HELM_FAILED' && /printed more than/.test(error.message),
  )
})

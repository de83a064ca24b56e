import assert from 'node:assert/strict'
import { test } from 'node:test'
import { risk, sketchedGraph } from '../../../testkit/update-graphs.ts'
import { channelsBetween, chooseBetween } from './choose-between.ts'
import type { ChannelRequest } from './choose-releases.ts'

const ocp = (name: string, rest: Partial<ChannelRequest> = {}): ChannelRequest => ({ type: 'ocp', name, ...rest })

test('between several channels all minors are asked, by the name of the lowest and as they are named themselves', () => {
  const names = (...channels: string[]) => channelsBetween(channels.map((name) => ocp(name))).join(' ')
  assert.equal(names('stable-4.18', 'stable-4.16'), 'stable-4.16 stable-4.17 stable-4.18')
  assert.equal(names('eus-4.14', 'eus-4.18'), 'eus-4.14 eus-4.16 eus-4.18')
  assert.equal(names('eus-4.16', 'stable-4.17'), 'eus-4.16 eus-4.18 stable-4.17')
  assert.equal(names('stable-4.16'), '')
  assert.deepEqual(channelsBetween([ocp('stable-4.18'), { type: 'okd', name: 'stable-4' }]), [])
})

test('the way from the first of several channels to the last is chosen too, with its risks', () => {
  const chosen = chooseBetween(
    [
      {
        request: ocp('stable-4.18', { maxVersion: '4.18.1' }),
        graph: sketchedGraph({ '4.17.9': ['4.18.1'], '4.18.1': ['4.18.2'] }),
      },
      { request: ocp('stable-4.16'), graph: sketchedGraph({ '4.16.1': ['4.16.2'] }) },
      { request: { type: 'okd', name: 'stable-4' }, graph: sketchedGraph({ '4.1.0': ['4.20.0'] }) },
    ],
    [sketchedGraph({ '4.16.2': [['4.17.9', 'A']] })],
  )
  // The upper channel has no lower end, so it begins with its first release; the lowest of all is the head of stable-4.16.
  assert.deepEqual(
    chosen.releases.map(({ version }) => version),
    ['4.16.2', '4.17.9', '4.18.1'],
  )
  assert.equal(chosen.releases[0]?.why, 'update path between channels, from 4.16.2 to 4.18.1')
  assert.deepEqual(chosen.risks, [{ from: '4.16.2', to: '4.17.9', risk: risk('A') }])
})

test('where no way leads from one channel to the other, that is said and nothing is chosen', () => {
  const chosen = chooseBetween(
    [
      { request: ocp('stable-4.18'), graph: sketchedGraph({ '4.18.1': [] }) },
      { request: ocp('stable-4.16'), graph: sketchedGraph({ '4.16.1': [] }) },
    ],
    [],
  )
  assert.deepEqual(chosen.releases, [])
  assert.match(chosen.unreached?.message ?? '', /^no updates lead from 4\.16\.1 to 4\.18\.1/)
})

test('one channel alone asks for nothing more', () => {
  const one = { request: ocp('stable-4.18'), graph: sketchedGraph({ '4.18.1': [] }) }
  assert.deepEqual(chooseBetween([one], []), { releases: [], risks: [] })
})

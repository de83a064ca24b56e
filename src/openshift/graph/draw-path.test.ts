import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { noGraphs, stable413 } from '../../../testkit/real-graphs.ts'
import { sketchedGraph } from '../../../testkit/update-graphs.ts'
import { drawUpdatePath } from './draw-path.ts'
import { parseUpdateGraph } from './update-graph.ts'
import { shortestUpdatePath } from './update-path.ts'

const channels = {
  '4.16.3': ['candidate-4.16', 'fast-4.16', 'stable-4.16', 'fast-4.17', 'stable-4.17'],
  '4.16.40': ['candidate-4.16', 'stable-4.16', 'stable-4.17', 'eus-4.18', 'stable-4.18'],
  '4.17.20': ['stable-4.17', 'eus-4.18', 'stable-4.18'],
  '4.18.9': ['stable-4.18'],
}
const graph = sketchedGraph(
  {
    '4.16.3': ['4.16.40', ['4.17.20', 'A', 'B']],
    '4.16.40': ['4.17.20'],
    '4.17.20': [['4.18.9', 'AzureRisk', 'PodRisk']],
  },
  { channels },
)
const path = shortestUpdatePath(graph, { from: '4.16.3', to: '4.18.9' })

test('the drawing shows versions, channels, minor updates, risks with their pages, and a summary', () => {
  const note = ({ version }: { version: string }) => (version === '4.17.20' ? '+1.2 GiB' : undefined)
  assert.equal(
    drawUpdatePath(path, { channel: 'stable-4.18', note }),
    `● 4.16.3
│  in stable-4.16, 4.17; candidate-4.16
▼
● 4.16.40
│  minor update 4.16 to 4.17, in stable-4.18
▼
● 4.17.20   +1.2 GiB
│  minor update 4.17 to 4.18, in stable-4.18
│  ⚠ AzureRisk (clusters that match)
│      AzureRisk can happen.
│      https://issues.example.com/AzureRisk
│  ⚠ PodRisk (clusters that match)
│      PodRisk can happen.
│      https://issues.example.com/PodRisk
▼
● 4.18.9

3 updates, 2 known risks taken on 1 of them; no way avoids them all. With more known risks taken, 2
updates would do.
`,
  )
})

test('without known risks that is said, and how many other ways are as good', () => {
  const two = sketchedGraph({ '4.1.0': ['4.1.1', '4.1.2'], '4.1.1': ['4.1.3'], '4.1.2': ['4.1.3'] })
  const drawn = drawUpdatePath(shortestUpdatePath(two, { from: '4.1.0', to: '4.1.3' }))
  assert.match(drawn, /\n\n2 updates, no known risk\. 1 other path is as short and as safe\.\n$/)
  const none = drawUpdatePath(shortestUpdatePath(two, { from: '4.1.0', to: '4.1.0' }))
  assert.equal(none, '● 4.1.0\n\nNothing to update: both ends are this release.\n')
})

test('no line is wider than asked for, but for a word that is, and nothing a service writes moves the cursor', () => {
  const text = fc.string({ unit: 'binary', maxLength: 300 })
  fc.assert(
    fc.property(text, text, fc.integer({ min: 40, max: 120 }), (name, message, width) => {
      const hop = { ...path.hops[0], risks: [{ name, message, url: 'https://a', everyCluster: true }] }
      const { from, to } = hop
      assert.ok(from && to)
      const drawn = drawUpdatePath({ ...path, releases: [from, to], hops: [{ ...hop, from, to }] }, { width })
      assert.doesNotMatch(drawn.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      for (const line of drawn.split('\n')) {
        const words = line.replace(/^[│●▼⚠\s]+/, '').split(/\s+/)
        assert.ok(line.length <= width || words.length === 1, `${line.length} > ${width}: ${line}`)
      }
    }),
  )
})

test('a path over the real stable-4.13 that no way around a risk has is drawn with that risk', {
  skip: noGraphs,
}, () => {
  const real = parseUpdateGraph(stable413(), 'stable-4.13')
  const drawn = drawUpdatePath(shortestUpdatePath(real, { from: '4.12.1', to: '4.13.3' }), { channel: 'stable-4.13' })
  assert.match(drawn, /│ {2}⚠ SeccompFilterErrno524 \(every cluster\)\n│ {6}Pods scheduled to nodes/)
  assert.match(drawn, /│ {6}https:\/\/issues\.redhat\.com\/browse\/COS-2437\n▼\n● 4\.13\.3\n/)
})

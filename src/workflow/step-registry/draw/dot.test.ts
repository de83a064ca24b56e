import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { dotOfTree } from './dot.ts'
import { phaseBox, type TreeNode } from './drawing.ts'

const fixtures = fileURLToPath(
  new URL('../../../../../shared/data/step-registry/ci-tools-fixtures/pkg/webreg/testdata/', import.meta.url),
)
const isThere = await stat(fixtures).then(
  () => true,
  () => false,
)
const options = { skip: isThere ? false : 'the data is not here' }

const leaf = (label?: string): TreeNode => ({
  kind: 'leaf',
  step: label === undefined ? undefined : { id: label, label, groups: [] },
})
const chain = (label: string, ...children: TreeNode[]): TreeNode => ({ kind: 'box', role: 'group', label, children })
const phase = (label: string, ...children: TreeNode[]): TreeNode => ({
  kind: 'box',
  role: 'phase',
  label,
  children: children.length === 0 ? [leaf()] : children,
})
const install = chain('ipi-install', leaf('ipi-install-rbac'), leaf('ipi-install-install'))
const deprovision = chain('ipi-deprovision', leaf('ipi-deprovision-must-gather'), leaf('ipi-deprovision-deprovision'))
const destroy = leaf('ipi-deprovision-deprovision')

/** The workflows and chains of pkg/webreg's own tests. */
const cases: Readonly<Record<string, readonly TreeNode[]>> = {
  TestChainDotFile_chain_of_chains: [install, deprovision],
  TestChainDotFile_empty: [leaf()],
  TestChainDotFile_ipi_deprovision: [leaf('ipi-deprovision-must-gather'), destroy],
  TestChainDotFile_ipi_install: [leaf('ipi-install-rbac'), leaf('ipi-install-install')],
  TestWorkflowDotFile_chain_of_chains: [
    phase('Pre', chain('chain-of-chains', install, deprovision)),
    phase('Test'),
    phase('Post'),
  ],
  TestWorkflowDotFile_chain_to_step: [phase('Pre', install, destroy), phase('Test'), phase('Post')],
  TestWorkflowDotFile_empty: [phase('Pre'), phase('Test'), phase('Post')],
  TestWorkflowDotFile_empty_chain: [
    phase('Pre', leaf('pre')),
    phase('Test', chain('empty', leaf())),
    phase('Post', leaf('post')),
  ],
  TestWorkflowDotFile_empty_phase: [phase('Pre', leaf('pre')), phase('Test'), phase('Post', leaf('post'))],
  TestWorkflowDotFile_ipi: [phase('Pre', install), phase('Test'), phase('Post', deprovision)],
  TestWorkflowDotFile_step_to_chain: [phase('Pre', destroy, install), phase('Test'), phase('Post')],
}

/** What a graph says, without what it looks like. */
function structureOf(dot: string): string {
  return dot
    .replaceAll('&#34;', '\\"')
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/ href="[^"]*"/, '')
        .replace(/ ;$/, ';'),
    )
    .filter((line) => !/^(?:digraph|color=|fontname=|node ?\[|href=|$)/.test(line))
    .join('\n')
}

for (const [name, roots] of Object.entries(cases)) {
  test(`the graph is that of webreg: ${name}`, options, async () => {
    const expected = await readFile(`${fixtures}zz_fixture_${name}.yaml`, 'utf8')
    const title = /label="(\w+ &#34;[^"]*&#34;)"/.exec(expected)?.[1]?.replaceAll('&#34;', '"') ?? ''
    assert.equal(structureOf(dotOfTree(title, roots)), structureOf(expected))
  })
}

test('a quote in a name does not end the text', () => {
  const box = phaseBox({ name: 'a"b\\', steps: [] })
  assert.match(dotOfTree('t', [box]), /label="a\\"b\\\\";/)
})

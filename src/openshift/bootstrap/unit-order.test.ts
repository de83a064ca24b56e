import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { ignitionConfig } from '../../../testkit/ignition-config.ts'
import type { Unit } from '../../ignition/config.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { readBootstrap } from './bootstrap-config.ts'
import { circlesOf, ranksOf } from './unit-graph.ts'
import { orderUnits, type UnitOrder } from './unit-order.ts'
import { lastOf, listed, parseUnitText } from './unit-text.ts'

function orderOf(units: readonly Unit[], files: Readonly<Record<string, string>> = {}): UnitOrder {
  return orderUnits(readBootstrap(ignitionConfig(files, units), { fileName: 'bootstrap.ign' }))
}

/** Each as `RANK NAME: what starts it`, with `-` where nothing does. */
function outline({ units }: UnitOrder): readonly string[] {
  return units.map(({ rank, name, startedBy, isStarted }) => {
    const starts = startedBy.map(({ how, by }) => `${how} ${by}`).join(', ')
    return `${rank} ${name}: ${starts}${isStarted ? '' : ' -'}`
  })
}

test('a unit is read with continued lines, comments, and what a drop-in takes back', () => {
  const settings = parseUnitText(
    '[Unit]\n# After=no.service\nDescription = A  b\n[Service]\nExecStart=/bin/a \\\n  --one \\\n# not this\n  --two\nExecStart=\nExecStart=/bin/b\n',
    '/x.service',
  )
  assert.equal(lastOf(settings, 'Unit', 'Description'), 'A  b')
  assert.equal(lastOf(settings, 'Unit', 'After'), undefined)
  assert.deepEqual(
    listed(settings, 'Service', 'ExecStart').map(({ value, at }) => `${at.line} ${value}`),
    ['10 /bin/b'],
  )
  assert.equal(settings.find(({ value }) => value.includes('--one'))?.value, '/bin/a --one --two')
})

test('units come in the order of After and Before, also across units that only the system has', () => {
  const order = orderOf([
    {
      name: 'last.service',
      contents: '[Unit]\nAfter=middle.service\nWants=middle.service\n[Install]\nWantedBy=multi-user.target\n',
      enabled: true,
    },
    { name: 'middle.service', contents: '[Unit]\nAfter=crio.service\nRequires=first.service\n' },
    { name: 'first.service', contents: '[Unit]\nBefore=crio.service\n' },
  ])
  assert.deepEqual(outline(order), [
    '0 first.service: requires middle.service',
    '1 middle.service: wants last.service',
    '2 last.service: enabled multi-user.target',
  ])
  assert.deepEqual([order.units[1]?.after, order.units[1]?.afterSystem], [['first.service'], ['crio.service']])
})

test('what nothing starts is told: not enabled, enabled by nobody who starts, masked', () => {
  const install = '[Install]\nWantedBy=multi-user.target\n'
  assert.deepEqual(
    outline(
      orderOf([
        { name: 'a.service', contents: install },
        { name: 'b.service', contents: '[Unit]\nWants=c.service\n' },
        { name: 'c.service', contents: '[Service]\nExecStart=/bin/true\n' },
        { name: 'd.service', contents: install, enabled: true, mask: true },
        { name: 'e.service', dropins: [{ name: 'x.conf', contents: '[Unit]\nConditionPathExists=/enoent\n' }] },
        { name: 'f.socket', enabled: true },
        { name: 'f.service', contents: '[Service]\nExecStart=/bin/true\n' },
      ]),
    ),
    [
      '0 a.service:  -',
      '0 b.service:  -',
      '0 c.service: wants b.service -',
      '0 d.service: enabled multi-user.target -',
      '0 e.service: ',
      '0 f.socket: enabled its own [Install]',
      '1 f.service: socket f.socket',
    ],
  )
})

test('links and quadlets start units as enabling does, under the names that Podman gives them', () => {
  const config = ignitionConfig(
    {
      '/etc/systemd/system/linked.service': '[Service]\nExecStart=/bin/true\n',
      '/etc/containers/systemd/ironic.container':
        '[Unit]\nRequires=ironic-volume.service\nAfter=ironic-volume.service\n[Install]\nWantedBy=multi-user.target\n',
      '/etc/containers/systemd/ironic.volume': '[Volume]\n',
    },
    [],
  )
  const link = { path: '/etc/systemd/system/multi-user.target.wants/linked.service', target: '../linked.service' }
  const bootstrap = readBootstrap({ ...config, storage: { ...config.storage, links: [link] } }, { fileName: 'b.ign' })
  assert.deepEqual(outline(orderUnits(bootstrap)), [
    `0 linked.service: link ${link.path}`,
    '0 ironic-volume.service: requires ironic.service',
    '1 ironic.service: enabled multi-user.target',
  ])
})

test('circles and programs that nobody brings are found with their places', () => {
  const { circles, missing } = orderOf(
    [
      { name: 'a.service', contents: '[Unit]\nAfter=b.service\n[Service]\nExecStart=/usr/local/bin/here.sh\n' },
      { name: 'b.service', contents: '[Unit]\nAfter=c.service\n[Service]\nExecStartPre=-/usr/local/bin/gone.sh x\n' },
      {
        name: 'c.service',
        contents: '[Unit]\nAfter=a.service\n[Service]\nExecStart=/bin/bash /opt/gone.sh\nExecStart=/usr/bin/true\n',
      },
    ],
    { '/usr/local/bin/here.sh': '#!/bin/bash\n' },
  )
  assert.deepEqual(circles, [['a.service', 'b.service', 'c.service']])
  assert.deepEqual(
    missing.map(({ unit, path, at }) => `${unit} ${path} ${at.line}`),
    ['b.service /usr/local/bin/gone.sh 4', 'c.service /opt/gone.sh 4'],
  )
})

const nodeImage = {
  '/etc/systemd/system-generators/overlay':
    '#!/bin/bash\nln -sf /etc/systemd/system/overlay.target "$1/default.target"\n',
  '/etc/systemd/system/overlay.target': '[Unit]\nRequires=finish.service\n',
  '/etc/systemd/system/finish.service':
    '[Service]\nExecStart=/usr/bin/systemctl --no-block isolate multi-user.target\n',
}

test('where a generator boots into another target first, the rest of the boot comes after it', () => {
  const release = { name: 'release.service', contents: '[Install]\nWantedBy=multi-user.target\n', enabled: true }
  assert.deepEqual(outline(orderOf([release], nodeImage)), [
    '0 finish.service: requires overlay.target',
    '1 release.service: enabled multi-user.target',
    '1 overlay.target: generator overlay',
  ])
})

const graph = fc
  .array(fc.tuple(fc.nat({ max: 7 }), fc.nat({ max: 7 })), { maxLength: 16 })
  .map(
    (edges) =>
      new Map(
        [...Map.groupBy(edges, ([one]) => one)].map(
          ([one, own]) => [`u${one}`, new Set(own.map(([, other]) => `u${other}`))] as const,
        ),
      ),
  )

test('of any graph: who has no circle comes after what is before it, and every circle is found', () => {
  fc.assert(
    fc.property(graph, (before) => {
      const ranks = ranksOf(before)
      const inCircle = new Map(circlesOf(before).flatMap((names) => names.map((name) => [name, names] as const)))
      for (const [name, earlier] of before) {
        for (const one of earlier) {
          const isTogether = name === one || (inCircle.has(name) && inCircle.get(name) === inCircle.get(one))
          const [own, other] = [ranks.get(name) ?? 0, ranks.get(one) ?? 0]
          assert.ok(isTogether ? own === other : own > other, `${name} after ${one}`)
        }
        assert.equal(inCircle.has(name), leadsTo(before, name, name), name)
      }
    }),
  )
})

function leadsTo(before: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set(before.get(from))
  for (const name of seen) for (const next of before.get(name) ?? []) seen.add(next)
  return seen.has(to)
}

const real = '../shared/data/installer/ign/rhtelco-ocp46-spec3-bootstrap.ign'

test('the units of a real bootstrap stand in their order, all of them start, and nothing is missing', (t) => {
  if (!existsSync(real)) return t.skip(`${real} is not here`)
  const { config } = readIgnitionConfig(readFileSync(real, 'utf8'), real)
  const { units, circles, missing } = orderUnits(readBootstrap(config, { fileName: real }))
  const order = ['release-image', 'crio-configure', 'kubelet', 'bootkube', 'progress'].map((name) => `${name}.service`)
  assert.deepEqual(
    units.map(({ name }) => name).filter((name) => order.includes(name)),
    order,
  )
  assert.deepEqual(
    units.filter(({ isStarted }) => !isStarted),
    [],
  )
  assert.deepEqual([circles, missing], [[], []])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { define as defineDelete } from './commands/delete.ts'
import { define as defineMirror } from './commands/mirror.ts'
import { type OcMirrorFlag, ocMirrorFlags } from './oc-mirror-flags.ts'
import { concurrencyOf, ignoredFlags, type OcMirrorOptions } from './oc-mirror-options.ts'

const commands = { mirror: defineMirror, delete: defineDelete }

/** The command as it is, but that it does nothing. */
function commandNamed(name: keyof typeof commands): Command {
  const command = new Command(name).exitOverride().configureOutput({ writeErr: () => undefined })
  commands[name](command, { context: () => assert.fail('it is not run'), done: () => undefined })
  return command.action(() => undefined)
}

interface Parsed extends OcMirrorOptions {
  readonly [name: string]: unknown
}

function parse(...words: readonly string[]): { options: Parsed; args: string[] } {
  return parseFor('mirror', words)
}

function parseFor(name: keyof typeof commands, words: readonly string[]): { options: Parsed; args: string[] } {
  const command = commandNamed(name).parse(words, { from: 'user' })
  return { options: command.opts<Parsed>(), args: command.args }
}

const samples: Readonly<Record<string, string>> = {
  count: '3',
  yes: 'true',
  date: '2026-11-21',
  duration: '10m',
  port: '55000',
  level: '6',
}

/** `main.ts` takes it from wherever it stands (test/e2e/command-line.test.ts). */
const isGlobal = ({ flags }: OcMirrorFlag) => flags.startsWith('--log-level')

for (const { flags, verdict, on, reason } of ocMirrorFlags.filter((flag) => !isGlobal(flag))) {
  const [, name = '', placeholder] = /(--[\w.-]+)(?: [<[](\w+)[>\]])?$/.exec(flags) ?? []
  const value = placeholder === undefined ? [] : [samples[placeholder] ?? 'some-value']
  const names = on === 'all' ? (['mirror', 'delete'] as const) : [on]
  for (const command of names)
    test(`${command} ${name}, as oc-mirror has it: ${verdict}`, () => {
      const { options, args } = parseFor(command, [name, ...value, 'docker://lab/ocp'])
      assert.deepEqual(args, ['docker://lab/ocp'])
      if (verdict === 'works') assert.deepEqual(ignoredFlags(options, command), [])
      if (verdict === 'ignored') assert.deepEqual(ignoredFlags(options, command), [`${name} is ignored: ${reason}`])
      if (verdict === 'refused') {
        const expected = {
          code: 'USAGE',
          message: new RegExp(`^${name} cannot be carried out: `),
          hint: /leave .* out/i,
        }
        assert.throws(() => ignoredFlags(options, command), expected)
      }
    })
}

test('what is ignored is told in one line each, short flags and variables too', () => {
  const { options } = parse('-p', '55001', '-f', '--cache-dir', '/cache', '--v2', '-c', 'isc.yaml', 'file://disk')
  const lines = ignoredFlags(options, 'mirror', { OC_MIRROR_CACHE: '/cache', HOME: '/root', UPDATE_URL_OVERRIDE: '' })
  assert.deepEqual(
    lines.map((line) => line.split(' is ignored: ')[0]),
    ['--cache-dir', '--port', '--force', 'OC_MIRROR_CACHE'],
  )
  assert.ok(
    lines.every((line) => /: .{20,}[^.]$/.test(line)),
    lines.join('\n'),
  )
})

test('a flag without a value may say true or false, as Go writes it, and never takes the next word', () => {
  assert.equal(parse('--remove-signatures=true', 'docker://lab').options.removeSignatures, true)
  assert.equal(parse('--remove-signatures=false', 'docker://lab').options.removeSignatures, undefined)
  assert.deepEqual(ignoredFlags(parse('--secure-policy=false', 'docker://lab').options, 'mirror'), [])
  assert.equal(parse('--dry-run=T', 'docker://lab').options['dryRun'], true)
  const { options, args } = parse('--dest-tls-verify', 'docker://lab')
  assert.deepEqual([options['destTlsVerify'], args], [true, ['docker://lab']])
  assert.equal(parse('--dest-tls-verify=false', 'docker://lab').options['destTlsVerify'], false)
  assert.equal(parse('--dest-tls-verify', 'false', 'docker://lab').options['destTlsVerify'], false)
  assert.equal(parse('--plan-only', 'plan.json', 'docker://lab').options['planOnly'], 'plan.json')
  assert.throws(() => parse('--dry-run=perhaps', 'docker://lab'), { code: 'commander.unknownOption' })
})

test('values of flags that work arrive read and checked', () => {
  const { options } = parse(
    '--since',
    '2026-01-31',
    '--max-nested-paths',
    '2',
    '--retry-delay',
    '1m',
    '-q',
    'docker://lab',
  )
  assert.deepEqual(
    [options.since, options.maxNestedPaths, options['retryDelay'], options.quiet],
    ['2026-01-31', 2, 60_000, true],
  )
  for (const words of [
    ['--since', 'yesterday'],
    ['--parallel-images', '0'],
    ['--max-nested-paths', '-1'],
  ])
    assert.throws(() => parse(...words, 'docker://lab'), words.join(' '))
})

test('images times layers are the blobs under way, with the default of oc-mirror for the one that is not named', () => {
  assert.equal(concurrencyOf({}), undefined)
  assert.equal(concurrencyOf({ parallelImages: 1, parallelLayers: 1 }), 1)
  assert.equal(concurrencyOf({ parallelImages: 2 }), 10)
  assert.equal(concurrencyOf({ parallelLayers: 2 }), 8)
  assert.equal(concurrencyOf({ parallelImages: 10, parallelLayers: 10 }), 64)
})

test('--help lists the flags that do something here, and no other', () => {
  const help = commandNamed('mirror').helpInformation()
  for (const { flags, help: line, isDeclared } of ocMirrorFlags.filter(({ on }) => on !== 'delete')) {
    const [, name = ''] = /(--[\w.-]+)/.exec(flags) ?? []
    if (!isDeclared) assert.equal(new RegExp(`${name}[ \n]`).test(help), line !== undefined, name)
  }
  assert.ok(!help.includes('--src-password'))
})

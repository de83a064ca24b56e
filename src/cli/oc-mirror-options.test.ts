import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { ocMirrorFlags } from './oc-mirror-flags.ts'
import { addOcMirrorOptions, concurrencyOf, ignoredFlags, type OcMirrorOptions } from './oc-mirror-options.ts'
import { addAccessOptions } from './registry-access.ts'

/** A command that declares what `mirror` and `delete` declare, and `main.ts` for them. */
function mirrorCommand(): Command {
  const command = new Command('mirror')
    .argument('<destination>')
    .option('-c, --config <file>', 'what to mirror')
    .option('--workspace <dir>', 'where working-dir is kept')
    .option('--from <dir>', 'the archive to read')
    .option('--dry-run', 'move nothing')
    .option('--plan-only [file]', 'print the plan')
    .option('--log-level <level>', 'how much to tell')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
  return addOcMirrorOptions(addAccessOptions(command), 'mirror')
}

interface Parsed extends OcMirrorOptions {
  readonly [name: string]: unknown
}

function parse(...words: readonly string[]): { options: Parsed; args: string[] } {
  const command = mirrorCommand().parse(words, { from: 'user' })
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

for (const { flags, verdict, on, reason } of ocMirrorFlags.filter((flag) => flag.on !== 'delete')) {
  const [, name = '', placeholder] = /(--[\w.-]+)(?: [<[](\w+)[>\]])?$/.exec(flags) ?? []
  const value = placeholder === undefined ? [] : [samples[placeholder] ?? 'some-value']
  test(`${name} of oc-mirror (${on}): ${verdict}`, () => {
    const { options, args } = parse(name, ...value, 'docker://lab/ocp')
    assert.deepEqual(args, ['docker://lab/ocp'])
    if (verdict === 'works') assert.deepEqual(ignoredFlags(options), [])
    if (verdict === 'ignored') assert.deepEqual(ignoredFlags(options), [`${name} is ignored: ${reason}`])
    if (verdict === 'refused') {
      const expected = { code: 'USAGE', message: new RegExp(`^${name} cannot be carried out: `), hint: /leave .* out/i }
      assert.throws(() => ignoredFlags(options), expected)
    }
  })
}

test('what is ignored is told in one line each, short flags and variables too', () => {
  const { options } = parse('-p', '55001', '-f', '--cache-dir', '/cache', '--v2', '-c', 'isc.yaml', 'file://disk')
  const lines = ignoredFlags(options, { OC_MIRROR_CACHE: '/cache', HOME: '/root', UPDATE_URL_OVERRIDE: '' })
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
  assert.deepEqual(ignoredFlags(parse('--secure-policy=false', 'docker://lab').options), [])
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
  const help = mirrorCommand().helpInformation()
  for (const { flags, help: line, isDeclared } of ocMirrorFlags) {
    const [, name = ''] = /(--[\w.-]+)/.exec(flags) ?? []
    if (!isDeclared) assert.equal(new RegExp(`${name}[ \n]`).test(help), line !== undefined, name)
  }
  assert.ok(!help.includes('--src-password'))
})

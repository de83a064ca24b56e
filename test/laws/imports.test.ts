/** The import law (ARCHITECTURE.md): imports point down, and each layer sees only the outside world that it needs. */
import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { type SourceFile, shippedFiles } from './source-files.ts'

interface ModuleLaw {
  /** Other modules of src/ that it may import. */
  readonly modules: readonly string[]
  /** Built-ins of Node, without `node:`. */
  readonly builtins: readonly string[]
  readonly packages: readonly string[]
}

const pure = ['errors', 'oci', 'registries', 'openshift', 'ignition', 'journal']
const edges = ['config', 'host', 'store', 'remote']
const below4 = [...pure, ...edges]
const features = ['mirror', 'quickstart', 'install', 'provision', 'diagnose', 'rehearse', 'catalog', 'chart']
const below5 = [...below4, 'registry', 'archive', 'trust', 'release', 'workflow', ...features]
const files = ['fs', 'fs/promises', 'path', 'crypto', 'url']
const streams = ['stream', 'stream/promises', 'zlib', 'events', 'util']
const net = ['http', 'https', 'net', 'tls']

/** The whole law. A folder that is not here may not exist. */
const law: Readonly<Record<string, ModuleLaw>> = {
  errors: { modules: [], builtins: [], packages: [] },
  oci: { modules: ['errors'], builtins: ['crypto'], packages: ['zod'] },
  registries: { modules: ['errors', 'oci'], builtins: [], packages: ['smol-toml'] },
  // gzip and hashes of bytes that are there already: still pure. YAML for the Secrets and MachineConfigs inside of a config.
  ignition: { modules: ['errors'], builtins: ['crypto', 'zlib'], packages: ['yaml'] },
  openshift: {
    modules: ['errors', 'oci', 'registries', 'ignition'],
    builtins: ['crypto'],
    packages: ['zod', 'yaml', 'semver'],
  },
  config: { modules: pure, builtins: files, packages: ['zod', 'yaml', 'semver'] },
  host: { modules: ['errors'], builtins: ['*'], packages: [] },
  // Threads: docs/adr/0008-large-uploads-in-a-worker.md
  store: {
    modules: ['errors', 'oci', 'host'],
    builtins: [...files, ...streams, 'worker_threads'],
    packages: ['zod'],
  },
  remote: {
    modules: ['errors', 'oci', 'host', 'registries', 'openshift'],
    builtins: [...files, ...streams, ...net],
    packages: ['zod'],
  },
  registry: {
    modules: ['errors', 'oci', 'host', 'store'],
    builtins: [...files, ...streams, ...net],
    packages: ['zod', '@peculiar/x509', 'reflect-metadata', 'bcryptjs'],
  },
  archive: {
    modules: ['errors', 'oci', 'host', 'store'],
    builtins: [...files, ...streams],
    packages: ['tar-stream', 'zod'],
  },
  trust: {
    modules: below4,
    builtins: [...files, 'util', 'zlib'],
    packages: ['zod', 'openpgp', '@peculiar/x509', 'reflect-metadata'],
  },
  release: {
    modules: [...below4, 'archive'],
    builtins: [...files, ...streams],
    packages: ['zod', 'yaml', 'tar-stream'],
  },
  mirror: {
    modules: [...below4, 'archive', 'trust', 'release'],
    builtins: [...files, ...streams],
    packages: ['zod', 'yaml'],
  },
  catalog: {
    modules: [...below4, 'archive'],
    builtins: [...files, ...streams],
    packages: ['zod', 'yaml', 'semver', 'tar-stream'],
  },
  chart: {
    modules: [...below4, 'archive'],
    builtins: [...files, ...streams],
    packages: ['zod', 'yaml', 'semver', 'tar-stream'],
  },
  journal: { modules: ['errors'], builtins: [], packages: [] },
  workflow: {
    modules: below4,
    builtins: [...files, ...streams],
    packages: ['zod', 'yaml'],
  },
  provision: {
    modules: [...below4, 'registry', 'archive'],
    builtins: [...files, ...streams, 'net', 'os'],
    packages: ['zod'],
  },
  install: {
    modules: [...below4, 'archive', 'release'],
    builtins: [...files, ...streams],
    packages: ['zod', 'yaml'],
  },
  rehearse: {
    modules: [...below4, 'archive', 'release'],
    builtins: [...files, ...streams, ...net, 'dns/promises', 'os', 'readline'],
    packages: ['zod', 'yaml'],
  },
  quickstart: {
    modules: [...below4, 'archive'],
    builtins: [...files, ...streams],
    packages: ['@peculiar/x509', 'reflect-metadata'],
  },
  flows: { modules: below5, builtins: [...files, ...streams], packages: ['zod', 'yaml', 'tar-stream'] },
  cli: { modules: [...below5, 'flows', 'dashboard'], builtins: ['*'], packages: ['commander', 'uqr'] },
  public: { modules: [...below5, 'flows', 'dashboard'], builtins: [], packages: [] },
}

const importPattern = /\b(?:from\s+|import\s*\(?\s*)'([^'\s]+)'/g

function importsOf({ text }: SourceFile): string[] {
  return [...text.matchAll(importPattern)].map(([, target = '']) => target)
}

function moduleOf(path: string): string {
  return path.split('/')[1] ?? ''
}

/** Why `file` may not import `target`; undefined where it may. */
function breach(file: SourceFile, target: string): string | undefined {
  const from = moduleOf(file.path)
  const own = law[from] ?? { modules: [], builtins: [], packages: [] }
  if (target.startsWith('node:')) {
    const isAllowed = own.builtins.includes('*') || own.builtins.includes(target.slice('node:'.length))
    return isAllowed ? undefined : `${from} may not use ${target}`
  }
  if (!target.startsWith('.')) return own.packages.includes(target) ? undefined : `${from} may not use ${target}`
  const path = join(dirname(file.path), target)
  if (!path.startsWith('src/')) return `${path} is outside src/`
  const to = moduleOf(path)
  if (to === from) return undefined
  if (path.includes('/internal/')) return `${path} is internal to ${to}`
  return own.modules.includes(to) ? undefined : `${from} may not import ${to}`
}

test('imports point down, statically and dynamically, and stay inside src/', async () => {
  const broken = (await shippedFiles()).flatMap((file) =>
    importsOf(file).flatMap((target) => {
      const why = breach(file, target)
      return why === undefined ? [] : [`${file.path}: "${target}": ${why}`]
    }),
  )
  assert.deepEqual(broken, [])
})

test('every module of src/ stands in the law', async () => {
  const modules = new Set((await shippedFiles()).map(({ path }) => moduleOf(path)))
  assert.deepEqual(
    [...modules].filter((name) => !law[name]),
    [],
  )
})

test('the law itself has no circle', () => {
  const visit = (name: string, above: readonly string[]) => {
    assert.ok(!above.includes(name), `${[...above, name].join(' -> ')}`)
    for (const next of law[name]?.modules ?? []) visit(next, [...above, name])
  }
  for (const name of Object.keys(law)) visit(name, [])
})

test('modules are loaded on demand only by the table of commands, or beside a comment that says why', async () => {
  const broken = (await shippedFiles()).flatMap(({ path, text }) => {
    if (path === 'src/cli/commands.ts') return []
    const lines = text.split('\n')
    return lines.flatMap((line, index) => {
      const isLoading = /(?:\bawait|\breturn|=>) import\(/.test(line)
      const isExplained = lines.slice(Math.max(0, index - 3), index).some((above) => /\/\/|\*\//.test(above))
      return isLoading && !isExplained ? [`${path}:${index + 1}`] : []
    })
  })
  assert.deepEqual(broken, [])
})

test('nothing is re-exported outside public/, and no file is called index.ts', async () => {
  const outside = (await shippedFiles()).filter(({ path }) => moduleOf(path) !== 'public')
  const broken = outside.filter(
    ({ path, text }) =>
      path.endsWith('/index.ts') || /^export\s+(?:type\s+)?(?:\*|\{[^}]*\})[^\n]*\bfrom\s/m.test(text),
  )
  assert.deepEqual(
    broken.map(({ path }) => path),
    [],
  )
})

/**
 * A stand-in for kubectl and the cluster behind it, as far as the driver of exported Jobs asks: objects are files, and a
 * Job runs on this machine. What kubectl itself does with the same words is not proved by it.
 *
 * KUBECTL_STATE is the directory that holds the cluster; `down` in it makes the next so many calls fail.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

interface StoredObject {
  readonly kind: string
  readonly metadata: { readonly name: string; annotations?: Record<string, string> }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly env: readonly EnvironmentVariable[] }[]
        readonly volumes: readonly { readonly configMap?: { readonly name: string } }[]
      }
    }
  }
}

interface EnvironmentVariable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly configMapKeyRef?: { readonly name: string; readonly key: string } }
}

const root = process.env['KUBECTL_STATE'] ?? ''
const words = process.argv.slice(2)
const kinds: Readonly<Record<string, string>> = { PersistentVolumeClaim: 'pvc', ConfigMap: 'configmap', Job: 'job' }

const fileOf = (kind: string, name: string) => join(root, `${kind}.${name}.json`)

function stored(kind: string, name: string): StoredObject | undefined {
  const file = fileOf(kind, name)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StoredObject) : undefined
}

function isDown(): boolean {
  const file = join(root, 'down')
  const left = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  if (left > 0) writeFileSync(file, String(left - 1))
  return left > 0
}

function get(kind: string, name: string, format: string): string {
  const object = stored(kind, name)
  if (object === undefined) return ''
  if (format === 'name') return `${kind}/${name}`
  if (kind === 'pvc') return object.metadata.annotations?.['sallyport/outcome'] ?? ''
  const status = join(root, name, 'status')
  if (!existsSync(status)) return name
  return `${name} ${readFileSync(status, 'utf8').trim() === '0' ? 'Complete' : 'Failed'} `
}

function create(object: StoredObject): void {
  const { metadata } = object
  const kind = kinds[object.kind] ?? ''
  writeFileSync(fileOf(kind, metadata.name), JSON.stringify(object), { flag: 'wx' })
  appendFileSync(join(root, 'created'), `${kind} ${metadata.name}\n`)
  if (kind === 'job') begin(object)
}

function begin({ metadata, spec }: StoredObject): void {
  const folder = join(root, metadata.name)
  mkdirSync(folder, { recursive: true })
  const pod = spec?.template.spec
  const named = pod?.volumes.flatMap(({ configMap }) => stored('configmap', configMap?.name ?? '') ?? [])[0]
  const scripts: Readonly<Record<string, string>> = named?.data ?? {}
  const here = (text: string) =>
    text.replaceAll('/var/run/sallyport/step', folder).replaceAll('/var/run/sallyport', root)
  writeFileSync(join(folder, 'run'), here(scripts['run'] ?? ''))
  writeFileSync(join(folder, 'script'), scripts['script'] ?? '', { mode: 0o755 })
  const env = (pod?.containers[0]?.env ?? []).map(({ name, value = '', valueFrom }): [string, string] => {
    const from = valueFrom?.configMapKeyRef
    return [name, from === undefined ? here(value) : (stored('configmap', from.name)?.data?.[from.key] ?? '')]
  })
  const around =
    'trap "kill -TERM \\$child" TERM; /bin/bash run >log 2>&1 & child=$!; echo $$ >pid; wait $child; echo $? >status'
  const options = {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...Object.fromEntries(env) },
    detached: true,
    stdio: 'ignore',
  } as const
  spawn('/bin/bash', ['-c', around], options).unref()
}

function flag(name: string): string {
  const at = words.indexOf(name)
  return at < 0 ? '' : (words[at + 1] ?? '')
}

const [verb = '', kind = '', name = ''] = words
if (isDown()) process.exit(1)
if (verb === 'get') process.stdout.write(get(kind, name, flag('-o')))
if (verb === 'create' && kind === '-f') create(parse(readFileSync(0, 'utf8')) as StoredObject)
if (verb === 'create' && kind === 'configmap') {
  const folder = words.find((word) => word.startsWith('--from-file='))?.slice('--from-file='.length) ?? ''
  const data = Object.fromEntries(readdirSync(folder).map((key) => [key, readFileSync(join(folder, key), 'utf8')]))
  create({ kind: 'ConfigMap', metadata: { name }, data })
}
if (verb === 'annotate') {
  const object = stored(kind, name)
  const [key = '', value = ''] = (words[3] ?? '').split('=')
  if (object)
    writeFileSync(
      fileOf(kind, name),
      JSON.stringify({ ...object, metadata: { ...object.metadata, annotations: { [key]: value } } }),
    )
}
if (verb === 'patch') process.kill(Number(readFileSync(join(root, name, 'pid'), 'utf8')), 'SIGTERM')
if (verb === 'delete') {
  rmSync(fileOf(kind, name), { force: true })
  rmSync(join(root, name), { recursive: true, force: true })
}

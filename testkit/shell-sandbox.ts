/**
 * The scripts of a bootstrap.ign run for real, below a directory of their own, with stand-ins for the programs that they
 * call. It proves that the samples keep their contract; nothing is pulled.
 */
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { IgnitionDocument } from './ignition-document.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'

export interface ServiceRecord {
  readonly timestamp: string
  readonly phase: string
  readonly stage?: string
  readonly result?: string
  readonly preCommand?: string
  readonly errorLine?: string
  readonly errorMessage?: string
}

export interface ShellSandbox {
  readonly root: string
  /** Runs a script of /usr/local/bin as the unit `service` would. */
  run(script: string, service: string): { readonly status: number | null; readonly output: string }
  /** Empty where the service wrote none. */
  records(service: string): Promise<readonly ServiceRecord[]>
  /** What was called, one line each. */
  calls(): Promise<readonly string[]>
  /** Writes a file below the root. */
  put(path: string, text: string): Promise<void>
  /** Text of a file, by its path on the bootstrap host. */
  read(path: string): Promise<string>
}

interface SandboxOptions {
  /** Shell text by name: other stand-ins, or others in the place of these. */
  readonly programs?: Readonly<Record<string, string>>
  /** Shell text by name, run before what the stand-in does anyhow. */
  readonly before?: Readonly<Record<string, string>>
}

export async function openShellSandbox(
  t: Cleanup,
  document: IgnitionDocument,
  options: SandboxOptions = {},
): Promise<ShellSandbox> {
  const root = await tempDir(t)
  const moved = (text: string) =>
    text.replaceAll(/(?<![\w./@])\/(?=(?:etc|opt|usr\/local|var|run|root)\/)/g, `${root}/`)
  for (const { path, mode } of document.files) {
    await put(join(root, path), moved(document.read(path)), mode === 0o555 ? 0o755 : 0o600)
  }
  for (const [name, text] of Object.entries({ ...standIns, ...options.programs })) {
    const action = moved(`${options.before?.[name] ?? ''}${text}`)
    await put(join(root, 'bin', name), `#!/bin/bash\necho "${name} $*" >> ${root}/calls\n${action}\n`, 0o755)
  }
  await mkdir(join(root, 'etc', 'issue.d'))
  await writeFile(join(root, 'calls'), '')
  const path = `${join(root, 'bin')}:${process.env['PATH'] ?? ''}`
  return {
    root,
    run: (script, service) => {
      const { status, stdout, stderr } = spawnSync('bash', [join(root, 'usr/local/bin', script)], {
        cwd: join(root, 'opt/openshift'),
        env: { PATH: path, HOME: root, SERVICE_NAME: service },
        encoding: 'utf8',
        timeout: 60_000,
      })
      return { status, output: `${stdout}${stderr}` }
    },
    records: async (service) => {
      const text = await readFile(join(root, 'var/log/openshift', `${service}.json`), 'utf8').catch(() => '[]')
      return JSON.parse(text) as ServiceRecord[]
    },
    calls: async () => (await readFile(join(root, 'calls'), 'utf8')).split('\n').filter((line) => line !== ''),
    put: (file, text) => put(join(root, file), text, 0o644),
    read: (file) => readFile(join(root, file), 'utf8'),
  }
}

async function put(path: string, text: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  await chmod(path, mode)
}

/** What a container that renders leaves behind, by its name; the working directory holds the assets. */
const rendered: Readonly<Record<string, readonly string[]>> = {
  'api-render': ['api-bootstrap/manifests/a'],
  'auth-api-render': ['auth-api-bootstrap/manifests/a'],
  'config-render': ['config-bootstrap/config'],
  'cvo-render': ['cvo-bootstrap/bootstrap/a', 'cvo-bootstrap/manifests/a'],
  'etcd-render': ['etcd-bootstrap/etc-kubernetes/manifests/a', 'etcd-bootstrap/manifests/a', 'etcd-bootstrap/tls/a'],
  'kube-apiserver-render': rendersPod('kube-apiserver-bootstrap', 'config', 'manifests/a'),
  'kube-controller-render': rendersPod('kube-controller-manager-bootstrap', 'config', 'cpc-config', 'manifests/a'),
  'kube-scheduler-render': rendersPod('kube-scheduler-bootstrap', 'config'),
  'ingress-render': ['ingress-operator-manifests/a'],
  'node-tuning-render': ['node-tuning-bootstrap/a'],
  'mco-render': [
    'mco-bootstrap/bootstrap/manifests/a',
    'mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml',
    'mco-bootstrap/manifests/a',
  ],
}

function rendersPod(directory: string, ...others: readonly string[]): readonly string[] {
  return ['bootstrap-manifests/pod', ...others].map((path) => `${directory}/${path}`)
}

const renderCases = Object.entries(rendered).map(
  ([name, paths]) =>
    `  *" --name ${name} "*) for f in ${paths.join(' ')}; do mkdir -p "$(dirname $f)"; echo "$f" > $f; done ;;`,
)

const standIns: Readonly<Record<string, string>> = {
  podman: `case " $* " in
  *" inspect "*Architecture*) echo amd64 ;;
  *" inspect "*) echo '[{"Digest":"sha256:aa","RepoDigests":["quay.io/r@sha256:bb","quay.io/r@sha256:aa"]}]' ;;
  *" image exists "*) exit 1 ;;
  *" image "*) echo "quay.io/c@sha256:\${@: -1}" ;;
  *" --entrypoint=cat "*) echo '{"kind":"ImageStream"}' ;;
${renderCases.join('\n')}
esac`,
  oc: 'echo 4.21.9',
  dig: 'echo 10.0.0.5',
  curl: 'echo 200',
  uname: 'echo x86_64',
  agetty: '',
  journalctl: 'echo "the last line of the journal"',
  ps: 'echo sample.service',
}

import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { inlineFile, inlineText } from '../contents.ts'
import { encodeDataUrl } from '../data-url.ts'
import { readIgnitionConfig } from '../read-config.ts'
import { encodingsOf } from './encodings.ts'
import { layersOf } from './layers.ts'
import { redactConfig } from './redact-config.ts'

type Part = Readonly<Record<string, unknown>>

function configOf(...files: readonly Part[]): string {
  return JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files } }, null, 2)
}

function file(path: string, text: string | Uint8Array): Part {
  return { path, mode: 384, contents: { source: encodeDataUrl(text) } }
}

function base64(text: string | Uint8Array): string {
  return Buffer.from(text).toString('base64')
}

/** What a file is in the copy. */
function redactedFile(path: string, text: string | Uint8Array): string {
  const { config } = readIgnitionConfig(redactConfig(configOf(file(path, text)), 'x.ign').text, 'copy')
  const [own] = config.storage?.files ?? []
  return own === undefined ? '' : (inlineText(own) ?? '')
}

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

test('a pull secret keeps its hosts and loses its credentials', () => {
  const auths = { 'mirror.lab:8443': { auth: base64('user:hunter2hunter2'), email: 'me@lab' } }
  const copy = redactedFile('/root/.docker/config.json', JSON.stringify({ auths }))
  const own = JSON.parse(copy) as { auths: Record<string, { auth: string; email: string }> }
  assert.deepEqual(Object.keys(own.auths), ['mirror.lab:8443'])
  assert.match(Buffer.from(own.auths['mirror.lab:8443']?.auth ?? '', 'base64').toString(), /^redacted:REDACTED-\d+$/)
  assert.match(own.auths['mirror.lab:8443']?.email ?? '', /^REDACTED-\d+$/)
})

test('a private key stays one by its lines, certificates stay as they are', () => {
  const certificate = '-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgI\n-----END CERTIFICATE-----\n'
  const copy = redactedFile('/opt/openshift/tls/a.key', `${certificate}${pem}`)
  assert.match(
    copy,
    /^-----BEGIN CERTIFICATE-----\nMIIB[^-]*-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\nREDACTED-1\n-----END PRIVATE KEY-----\n$/,
  )
})

test('a Secret keeps its names, and a file around it its comments and its form', () => {
  const manifest = `# kept\napiVersion: v1\nkind: Secret\nmetadata:\n  name: creds   # kept too\ndata:\n  password: ${base64('hunter2hunter2')}\n  tls.key: ${base64(pem)}\nstringData:\n  token: "abc"\n`
  const copy = redactedFile('/opt/openshift/manifests/creds.yaml', manifest)
  assert.match(copy, /^# kept\napiVersion: v1\nkind: Secret\nmetadata:\n {2}name: creds {3}# kept too\ndata:\n/)
  const [, password = '', key = '', token] =
    /password: (\S+)\n {2}tls.key: (\S+)\nstringData:\n {2}token: (.*)\n$/.exec(copy) ?? []
  assert.match(Buffer.from(password, 'base64').toString(), /^REDACTED-\d+$/)
  assert.match(
    Buffer.from(key, 'base64').toString(),
    /^-----BEGIN PRIVATE KEY-----\nREDACTED-\d+\n-----END PRIVATE KEY-----\n$/,
  )
  assert.match(token ?? '', /^"REDACTED-\d+"$/)
})

test('a kubeconfig keeps its servers and certificates', () => {
  const kubeconfig = `apiVersion: v1\nkind: Config\nclusters:\n- cluster: {server: "https://api-int.lab:6443", certificate-authority-data: ${base64('-----BEGIN CERTIFICATE-----')}}\nusers:\n- name: admin\n  user:\n    client-key-data: ${base64(pem)}\n- name: sa\n  user: {token: abcdefghijklmnop}\n`
  const copy = redactedFile('/opt/openshift/auth/kubeconfig', kubeconfig)
  assert.ok(copy.startsWith(kubeconfig.slice(0, kubeconfig.indexOf('users:'))), copy)
  assert.match(copy, /user: \{token: REDACTED-\d+\}\n$/)
  assert.equal(copy.includes(base64(pem)), false)
})

test('files inside of MachineConfigs are opened, and a hash is that of the copy', () => {
  const script = 'curl --user me:hunter2hunter2 https://mirror.lab\n'
  const inner = {
    path: '/usr/local/bin/a.sh',
    contents: { source: encodeDataUrl(script), verification: { hash: sha512(script) } },
  }
  const machineConfig = {
    kind: 'MachineConfig',
    spec: { config: { ignition: { version: '3.2.0' }, storage: { files: [inner] } } },
  }
  const copy = JSON.parse(
    redactedFile('/opt/openshift/openshift/99.json', JSON.stringify(machineConfig)),
  ) as typeof machineConfig
  const [own] = copy.spec.config.storage.files
  assert.ok(own)
  assert.equal(Buffer.from(inlineFile(own) ?? []).toString(), 'curl --user me:REDACTED-1 https://mirror.lab\n')
})

function sha512(text: string | Uint8Array): string {
  return `sha512-${createHash('sha512').update(text).digest('hex')}`
}

test('what is compressed is compressed again, and its hash holds', () => {
  const env = 'TOKEN=hunter2hunter2\nKEPT=1\n'
  const source = `data:;base64,${base64(gzipSync(env))}`
  const contents = { source, compression: 'gzip', verification: { hash: sha512(env) } }
  const { text } = redactConfig(configOf({ path: '/etc/env', contents }), 'x.ign')
  const [own] = readIgnitionConfig(text, 'copy').config.storage?.files ?? []
  assert.ok(own)
  assert.equal(inlineText(own), 'TOKEN=REDACTED-1\nKEPT=1\n')
  assert.equal(own.contents?.compression, 'gzip')
})

test('users lose their hashes and the owners of their keys', () => {
  const passwd = {
    users: [
      {
        name: 'core',
        passwordHash: '$6$saltsalt$hashhashhashhash',
        sshAuthorizedKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me@lab'],
      },
    ],
  }
  const { text } = redactConfig(JSON.stringify({ ignition: { version: '3.2.0' }, passwd }), 'x.ign')
  assert.deepEqual(JSON.parse(text).passwd.users[0], {
    name: 'core',
    passwordHash: '$6$REDACTED-1',
    sshAuthorizedKeys: ['ssh-ed25519 REDACTED-2 redacted'],
  })
})

test('scripts that speak of secrets and hold none stay as they are', () => {
  const script =
    '#!/bin/bash\nTOKEN="$1"\npassword=$(cat /run/password)\nbootkube --pull-secret=/assets/manifests/pull-secret.yaml\n' +
    'curl -H "Authorization: Bearer $TOKEN" -u "$user:$pass" https://host/\necho "Basic constraints, bearer tokens"\n'
  assert.equal(redactedFile('/usr/local/bin/a.sh', script), script)
})

test('a dollar is a variable in a script and a letter in a file of settings', () => {
  const line = 'TOKEN=$ecret-Hunter2\n'
  assert.equal(redactedFile('/etc/env', 'PASSWORD=$ecret1\n'), 'PASSWORD=REDACTED-1\n')
  assert.equal(redactedFile('/etc/a.sh', '#!/bin/sh\nPASSWORD=$SECRET1\n'), '#!/bin/sh\nPASSWORD=$SECRET1\n')
  assert.equal(redactedFile('/etc/env', line), 'TOKEN=REDACTED-1\n')
  assert.equal(redactedFile('/etc/shadow', 'core:$1$a$b:1::::::\n'), 'core:REDACTED-1:1::::::\n')
})

test('the key of a disk goes whole, and its hash is that of the marker', () => {
  const luks = [
    { name: 'a', device: '/dev/a', keyFile: { source: 'data:,short', verification: { hash: sha512('short') } } },
  ]
  const { text } = redactConfig(JSON.stringify({ ignition: { version: '3.2.0' }, storage: { luks } }), 'x.ign')
  assert.deepEqual(JSON.parse(text).storage.luks[0].keyFile, {
    source: 'data:,REDACTED-1',
    verification: { hash: sha512('REDACTED-1') },
  })
})

test('the same secret has the same marker, and another has another', () => {
  const copy = redactedFile('/etc/env', 'A_TOKEN=first-secret-1\nB_TOKEN=other-secret-2\nC_TOKEN=first-secret-1\n')
  assert.equal(copy, 'A_TOKEN=REDACTED-1\nB_TOKEN=REDACTED-2\nC_TOKEN=REDACTED-1\n')
})

test('a copy of a copy is the copy', () => {
  const text = configOf(file('/etc/env', 'A_TOKEN=first-secret-1\n'), file('/opt/openshift/tls/a.key', pem))
  const once = redactConfig(text, 'x.ign').text
  assert.equal(redactConfig(once, 'y.ign').text, once)
})

test('what cannot be opened to the end is refused', () => {
  const nested = Array.from({ length: 20 }).reduce<Uint8Array>((inner) => gzipSync(inner), Buffer.from('x'.repeat(64)))
  assert.throws(() => redactConfig(configOf(file('/a', nested)), 'x.ign'), { code: 'REDACTION_INCOMPLETE' })
  assert.ok(gunzipSync(nested))
})

test('a secret that is left where nothing can stand for it is refused, and named by its place', () => {
  const left = file('/etc/map.json', JSON.stringify({ 'hunter2-hunter2': 1 }))
  assert.throws(() => redactConfig(configOf(left, file('/etc/env', 'TOKEN=hunter2-hunter2\n')), 'x.ign'), {
    code: 'REDACTION_INCOMPLETE',
    message: 'x.ign: a secret would be left in /etc/map.json: nothing was written',
  })
})

test('keys that are no text, and files of a form that nobody knows, go as a whole', () => {
  const der = privateKey.export({ type: 'pkcs8', format: 'der' })
  assert.match(redactedFile('/etc/any', der), /^REDACTED-\d+$/)
  assert.match(redactedFile('/etc/any', `key=${base64(der)}\n`), /^key=[\w+/]+={0,2}\n$/)
  assert.equal(redactedFile('/etc/any', `key=${base64(der)}\n`).includes(base64(der).slice(4, 40)), false)
  assert.match(redactedFile('/etc/a.jks', Buffer.from([0xfe, 0xed, 0xfe, 0xed, 0, 0])), /^REDACTED-\d+$/)
  assert.match(redactedFile('/root/.netrc', 'machine host login me password hunter2\n'), /^REDACTED-\d+\n$/)
  assert.equal(
    redactedFile('/etc/shadow', 'root:*:1::::::\ncore:abJnggxhB/yWI:1::::::\n'),
    'root:*:1::::::\ncore:REDACTED-1:1::::::\n',
  )
})

/** As generated passwords and tokens are: of several kinds of characters. */
const secret = fc
  .stringMatching(/^[A-Za-z0-9+/_.~-]{16,40}$/)
  .filter((text) => /[0-9]/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text) && !/^[/.]|REDACTED|\/\//.test(text))

/** Ways to put a text into something else. */
const wrappings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify({ nested: { text } }),
  (text) => `apiVersion: v1\nkind: ConfigMap\ndata:\n  inner: ${JSON.stringify(text)}\n`,
  (text) => `PAYLOAD=${base64(text)}\nOTHER='${Buffer.from(text).toString('base64url')}'\n`,
  (text) => `#!/bin/sh\necho ${base64(text)} | base64 -d > /etc/x\n`,
  (text) => `#!/bin/sh\nbase64 -d <<EOF\n${base64(text).replace(/.{76}/g, '$&\n')}\nEOF\n`,
  (text) =>
    `spec:\n  config:\n    storage:\n      files:\n      - path: /x\n        contents:\n          source: ${encodeDataUrl(text)}\n`,
  (text) =>
    JSON.stringify({
      ignition: { version: '3.2.0', config: { merge: [{ source: `data:,${encodeURIComponent(text)}` }] } },
    }),
]

/** Places where a secret can be told. */
const places: readonly ((secret: string) => string)[] = [
  (own) => `DB_PASSWORD=${own}\n`,
  (own) => `export AWS_SECRET_ACCESS_KEY="${own}"\n`,
  (own) => `Environment="HTTPS_PROXY=http://proxy:${encodeURIComponent(own)}@proxy.lab:3128"\n`,
  (own) => JSON.stringify({ auths: { 'quay.io': { auth: base64(`me:${own}`) } } }),
  (own) => `#!/bin/sh\necho '{"auths":{"quay.io":{"auth":"${base64(`me:${own}`)}"}}}' > /root/auth.json\n`,
  (own) => `apiVersion: v1\nkind: Secret\ndata:\n  some-name: ${base64(own)}\n`,
  (own) => JSON.stringify({ kind: 'List', items: [{ kind: 'Secret', stringData: { own } }] }),
  (own) => `kind: Config\nusers:\n- name: a\n  user:\n    token: ${JSON.stringify(own)}\n`,
  (own) => `-----BEGIN RSA PRIVATE KEY-----\n${own}\n${own}\n-----END RSA PRIVATE KEY-----\n`,
  (own) => `[connection]\npsk=${own}\n`,
  (own) => `curl -H 'Authorization: Bearer ${own}' https://x\n`,
  (own) => JSON.stringify({ containers: [{ env: [{ name: 'API_TOKEN', value: own }] }] }),
]

/** Where it stands once more, in a form that tells nothing. */
const echoes: readonly ((secret: string) => string)[] = [
  (own) => `nothing ${own} nothing`,
  (own) => base64(`a${own}b`),
  (own) => base64(`ab${own}c`),
  (own) => Buffer.from(own).toString('hex'),
  (own) => encodeURIComponent(own),
  () => '',
]

const planted = fc.record({
  secret,
  place: fc.constantFrom(...places),
  wraps: fc.array(fc.constantFrom(...wrappings), { maxLength: 3 }),
  path: fc.constantFrom('/etc/some.conf', '/opt/openshift/manifests/a.yaml', '/root/a.json', '/etc/systemd/a'),
  echo: fc.constantFrom(...echoes),
  isGzip: fc.boolean(),
})

test('no planted secret is in the copy: as it is, in base64 of any alignment, in hex, percent-encoded', () => {
  fc.assert(
    fc.property(fc.array(planted, { minLength: 1, maxLength: 4 }), (all) => {
      const files = all.map(({ secret: own, place, wraps, path, isGzip }, index) => {
        const text = wraps.reduce((inner, wrap) => wrap(inner), place(own))
        const source = isGzip ? `data:;base64,${base64(gzipSync(text))}` : encodeDataUrl(text)
        return { path: `${path}${index}`, contents: { source, ...(isGzip && { compression: 'gzip' }) } }
      })
      const told = all.map(({ secret: own, echo }, index) => file(`/etc/echo${index}`, `${echo(own)}\n`))
      const { text } = redactConfig(configOf(...files, ...told), 'x.ign')
      const { config } = readIgnitionConfig(text, 'copy')
      for (const own of config.storage?.files ?? []) assert.ok(inlineFile(own) !== undefined)
      const layers = layersOf(JSON.parse(text)).map((layer) => layer.text)
      for (const { secret: own } of all) {
        for (const { text: encoded } of encodingsOf(own))
          assert.equal(
            layers.find((layer) => layer.includes(encoded)),
            undefined,
            `${own} as ${encoded}`,
          )
      }
    }),
    { numRuns: Number(process.env['SALLYPORT_REDACT_RUNS'] ?? 200) },
  )
})

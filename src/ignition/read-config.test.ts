import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readIgnitionConfig } from './read-config.ts'

test('a config is read as Ignition decodes it: in any letters, without what is null or unknown', () => {
  const text = `{"ignition": {"version": "3.2.0", "proxy": null},
    "STORAGE": {"files": [{"path": "/a", "mode": null, "stray": 1}], "links": null}}`
  assert.deepEqual(readIgnitionConfig(text, 'a.ign'), {
    version: '3.2.0',
    config: { ignition: { version: '3.2.0' }, storage: { files: [{ path: '/a' }] } },
  })
})

test('a byte order mark does not keep a config from being read', () => {
  assert.equal(readIgnitionConfig('\uFEFF{"ignition": {"version": "3.4.0"}}', 'a.ign').version, '3.4.0')
})

const refused: Readonly<Record<string, RegExp>> = {
  '': /^a\.ign: not JSON: unexpected end of JSON input, line 1 col 1$/,
  '{"ignition":\n}': /^a\.ign: not JSON: invalid character '}' .*, line 2 col 2$/,
  '{"storage": {}}': /no ignition\.version/,
  '[]': /^a\.ign: \$: json: cannot unmarshal array/,
  '{"ignition": {"version": "4.0.0"}}': /specification 4\.0\.0 is not known/,
  '{"ignition": {"version": "3.2.0"},\n"storage": {"files": {}}}':
    /^a\.ign: \$\.storage\.files: json: cannot unmarshal object .*, line 2 col 23$/,
  '{"ignition": {"version": "2.2.0"}, "systemd": {"units": [{"enabled": "yes"}]}}':
    /^a\.ign: \$\.systemd\.units\.0\.enabled: json: cannot unmarshal string/,
}

test('what is no config is refused with its place', () => {
  for (const [text, message] of Object.entries(refused))
    assert.throws(() => readIgnitionConfig(text, 'a.ign'), { code: 'IGNITION_INVALID', message }, text)
})

test('a config of 2.x becomes one of 3.x', () => {
  const node = { filesystem: 'root', user: { name: 'root' } }
  const text = JSON.stringify({
    ignition: { version: '2.2.0', config: { append: [{ source: 'https://a', verification: {} }] }, timeouts: {} },
    networkd: {},
    passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['k'], create: {} }], groups: [{ name: 'g', gid: 7 }] },
    storage: {
      files: [
        { ...node, path: '/a', mode: 384, contents: { source: 'data:,a', verification: {} } },
        { ...node, path: '/motd', append: true, contents: { source: 'data:,b' } },
        { ...node, path: '/a', append: true, contents: { source: 'data:,c' } },
      ],
      links: [{ ...node, path: '/l', target: '/t' }],
    },
    systemd: { units: [{ name: 'a.service', enable: true, contents: '[Unit]' }] },
  })
  const { config, version } = readIgnitionConfig(text, 'a.ign')
  assert.equal(version, '2.2.0')
  assert.deepEqual(config.ignition.config?.merge, [{ source: 'https://a', verification: {} }])
  assert.deepEqual(config.passwd, {
    users: [{ name: 'core', sshAuthorizedKeys: ['k'] }],
    groups: [{ name: 'g', gid: 7 }],
  })
  const [first, second] = config.storage?.files ?? []
  assert.deepEqual([first?.path, first?.overwrite, first?.append], ['/a', true, [{ source: 'data:,c' }]])
  assert.deepEqual([second?.path, second?.contents, second?.append], ['/motd', undefined, [{ source: 'data:,b' }]])
  assert.deepEqual(config.storage?.links, [{ path: '/l', target: '/t', user: { name: 'root' } }])
  assert.deepEqual(config.systemd?.units, [{ name: 'a.service', contents: '[Unit]', enabled: true }])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { makeSiteAuthority } from '../../testkit/site-certificates.ts'
import { loadSite } from '../config/site-configuration.ts'
import { checkInstallConfig } from './check-install-config.ts'
import { effectiveNoProxy } from './cluster-proxy.ts'
import { type InstallConfigMaterial, renderInstallConfig } from './render-install-config.ts'

interface Wish {
  readonly variant?: string
  readonly platform?: string
  readonly more?: string
}

function siteOf({ variant = 'disconnected', platform = 'none: {}', more = '' }: Wish = {}) {
  const mirror = variant === 'proxy-only' ? '' : 'mirror:\n  registry: mirror.lab:8443/ocp4\n'
  const text = `kind: Site
name: c1
baseDomain: lab.example.com
variant: ${variant}
platform:
  ${platform}
release: {version: 4.18.9}
${mirror}cluster: {}
secrets:
  login: {env: LOGIN}
${more}`
  return loadSite({ file: 's.yaml', text }).site
}

const mirror = '{"auths":{"mirror.lab:8443":{"auth":"dTpw","email":"a@b"},"other.lab":{"auth":"eDp5"}}}'
const release = '{"auths":{"quay.io":{"auth":"cTpy"},"cloud.openshift.com":{"auth":"czp0"}}}'

const material: InstallConfigMaterial = {
  version: '4.18.9',
  pullSecrets: { mirror, release },
  secretOf: (name) => (name === 'login' ? 'admin:pass:w@rd%41' : undefined),
}

const rendered = (wish: Wish = {}, over: Partial<InstallConfigMaterial> = {}) => {
  const text = renderInstallConfig(siteOf(wish), { ...material, ...over })
  const findings = checkInstallConfig({ file: 'ic.yaml', text }, over.version ?? material.version)
  const errors = findings.filter(({ severity }) => severity === 'error')
  assert.deepEqual(errors, [], text)
  return parse(text)
}

test('a disconnected cluster has the login of its mirror, and no other', () => {
  const config = rendered()
  assert.deepEqual(JSON.parse(config.pullSecret), { auths: { 'mirror.lab:8443': { auth: 'dTpw' } } })
  assert.equal(config.publish, undefined)
})

test('a cluster that reaches out has that of the release too, or alone', () => {
  const hosts = (config: { pullSecret: string }) => Object.keys(JSON.parse(config.pullSecret).auths)
  assert.deepEqual(hosts(rendered({ variant: 'private' })), ['cloud.openshift.com', 'mirror.lab:8443', 'quay.io'])
  const more = 'proxy: {url: "http://proxy.lab:3128", credentials: login}\n'
  assert.deepEqual(hosts(rendered({ variant: 'proxy-only', more })), ['cloud.openshift.com', 'quay.io'])
})

test('mirrors stand in the field that the installer of the version reads, and never in both', () => {
  const [newer, older] = [rendered(), rendered({}, { version: '4.13.4' })]
  assert.deepEqual(newer.imageDigestSources, [
    { source: 'quay.io/openshift-release-dev/ocp-release', mirrors: ['mirror.lab:8443/ocp4/openshift/release-images'] },
    { source: 'quay.io/openshift-release-dev/ocp-v4.0-art-dev', mirrors: ['mirror.lab:8443/ocp4/openshift/release'] },
  ])
  assert.deepEqual(older.imageContentSources, newer.imageDigestSources)
  assert.ok(rendered({}, { version: '4.14.0' }).imageDigestSources)
  assert.deepEqual([newer.imageContentSources, older.imageDigestSources], [undefined, undefined])
})

test('the policy of a source is written for installers that read it', () => {
  const mirrorSources = [
    { source: 'quay.io/a', mirrors: ['mirror.lab:8443/a'], mirrorSourcePolicy: 'NeverContactSource' as const },
  ]
  const of = (version: string) => rendered({}, { version, mirrorSources }).imageDigestSources
  assert.deepEqual(of('4.21.0'), [
    { source: 'quay.io/a', mirrors: ['mirror.lab:8443/a'], sourcePolicy: 'NeverContactSource' },
  ])
  assert.deepEqual(of('4.20.0'), [{ source: 'quay.io/a', mirrors: ['mirror.lab:8443/a'] }])
})

test('the proxy has its login in its URL, and the mirror is reached without it', () => {
  const { proxy } = rendered({
    more: 'proxy: {url: "http://proxy.lab:3128", credentials: login, noProxy: [.example.com]}\n',
  })
  assert.deepEqual(proxy, {
    httpProxy: 'http://admin:pass%3Aw%40rd%2541@proxy.lab:3128',
    httpsProxy: 'http://admin:pass%3Aw%40rd%2541@proxy.lab:3128',
    noProxy: '.example.com,mirror.lab',
  })
})

test('what is reached without a proxy in the end is what the installer will add, too', () => {
  assert.deepEqual(effectiveNoProxy(siteOf({ platform: 'aws: {region: eu-west-1}' })), [
    '.cluster.local',
    '.eu-west-1.compute.internal',
    '.svc',
    '10.0.0.0/16',
    '10.128.0.0/14',
    '127.0.0.1',
    '169.254.169.254',
    '172.30.0.0/16',
    'api-int.c1.lab.example.com',
    'localhost',
    'mirror.lab',
  ])
})

test('a closed cluster on AWS publishes inside, and takes subnets where the version has them', () => {
  const platform = 'aws: {region: us-east-1, subnets: [subnet-0123456789abcdef0], credentials: login}'
  const config = rendered({ platform })
  assert.deepEqual([config.publish, config.credentialsMode], ['Internal', 'Manual'])
  assert.deepEqual(config.platform.aws, { region: 'us-east-1', subnets: ['subnet-0123456789abcdef0'] })
  const newer = rendered({ platform }, { version: '4.19.0' })
  assert.deepEqual(newer.platform.aws.vpc, { subnets: [{ id: 'subnet-0123456789abcdef0' }] })
})

test('logins of a vCenter come from its secret', () => {
  const domain =
    'name: a, region: r, zone: z, server: vc.lab, topology: {datacenter: d, computeCluster: /d/host/c, datastore: /d/datastore/s, networks: [n]}'
  const platform = `vsphere: {vcenters: [{server: vc.lab, datacenters: [d], credentials: login}], failureDomains: [{${domain}}]}`
  const [vcenter] = rendered({ platform }).platform.vsphere.vcenters
  assert.deepEqual(vcenter, { server: 'vc.lab', datacenters: ['d'], user: 'admin', password: 'pass:w@rd%41' })
})

test('authorities are joined, each once, and nothing stands behind the last', async () => {
  const [a, b] = await Promise.all(['a', 'b'].map((name) => makeSiteAuthority({ now: Date.UTC(2026, 0), name })))
  const config = rendered({}, { trustBundles: [`${a?.pem}\n# note\n`, `${b?.pem}\n${a?.pem}\n\n`] })
  assert.equal(config.additionalTrustBundlePolicy, 'Always')
  assert.equal(config.additionalTrustBundle.match(/BEGIN/g).length, 2)
  assert.ok(config.additionalTrustBundle.endsWith('-----END CERTIFICATE-----\n'))
})

test('a login that is missing is named by its registry, and no secret is repeated', () => {
  const site = siteOf()
  const render = (text: string | undefined) => renderInstallConfig(site, { ...material, pullSecrets: { mirror: text } })
  assert.throws(() => render('{"auths":{"mirror.lab":{"auth":"dTpw"}}}'), {
    message:
      'mirror.credentials: no login for mirror.lab:8443, exactly by this name and port; there is one for mirror.lab',
  })
  assert.throws(() => render('hunter2'), { message: 'mirror.credentials: it is no JSON' })
  assert.throws(
    () => render(undefined),
    /The login for mirror.lab:8443 is not there: Sallyport makes it with this mirror/,
  )
  const given = { ...site, mirror: site.mirror && { ...site.mirror, service: 'existing' as const } }
  const absent = () => renderInstallConfig(given, { ...material, pullSecrets: {} })
  assert.throws(absent, /mirror.credentials: the pull secret of the cluster needs it/)
})

test('the same site gives the same bytes', () => {
  assert.equal(renderInstallConfig(siteOf(), material), renderInstallConfig(siteOf(), material))
})

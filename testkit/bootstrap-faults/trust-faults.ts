/** Faults of certificates and credentials: the mirror is there, and one of the two does not believe the other. */

import { mirrorName, pullSecretFor } from '../bootstrap-site.ts'
import type { SiteCertificateOptions } from '../site-certificates.ts'
import { makeSiteAuthority } from '../site-certificates.ts'
import {
  type BootstrapFault,
  type FaultyBootstrap,
  hostPaths,
  nodeImagePull,
  releaseImagePull,
} from './bootstrap-fault.ts'

const { trustBundle, pullSecret } = hostPaths
const hourMs = 60 * 60 * 1000
/** Before 4.19, so that the release image is what fails first. */
const before = { era: '4.16' } as const

/** The mirror shows another certificate of its own authority. */
async function present({ site }: FaultyBootstrap, options: Partial<SiteCertificateOptions>): Promise<void> {
  site.mirror.present(await site.authority.issue({ hosts: [mirrorName], commonName: mirrorName, ...options }))
}

const bundleFaults: readonly BootstrapFault[] = [
  {
    id: 'ca-removed',
    title: 'The trust bundle is empty',
    section: '5.4 #1',
    expect: 'rehearse.ca-unknown',
    expectedStage: nodeImagePull,
    inject: ({ document }) => document.write(trustBundle, ''),
  },
  {
    id: 'ca-file-missing',
    title: 'There is no trust bundle at all',
    section: '5.4 #1',
    at: before,
    expect: 'rehearse.ca-unknown',
    expectedStage: releaseImagePull,
    inject: ({ document }) => document.remove(trustBundle),
  },
  {
    id: 'ca-of-another-registry',
    title: 'The trust bundle has the authority of a registry that was installed anew',
    section: '5.4 #1',
    expect: 'rehearse.ca-unknown',
    expectedStage: nodeImagePull,
    inject: async ({ site, document }) => {
      const { pem } = await makeSiteAuthority({ now: site.clock.now(), name: 'Lab mirror CA' })
      document.write(trustBundle, pem)
    },
  },
  {
    id: 'chain-not-sent',
    title: 'The certificate of the mirror is from an intermediate authority that it does not send',
    section: '5.4 #1',
    expect: 'rehearse.ca-unknown',
    expectedStage: nodeImagePull,
    inject: async ({ site }) => {
      const intermediate = await site.authority.subordinate('Lab intermediate CA')
      site.mirror.present(await intermediate.issue({ hosts: [mirrorName] }))
    },
  },
  {
    id: 'leaf-instead-of-ca',
    title: 'The trust bundle has the certificate of the mirror, not that of its authority',
    section: '5.4 #1',
    at: before,
    expect: 'rehearse.trust-bundle-no-ca',
    expectedStage: releaseImagePull,
    inject: async ({ site, document }) => {
      const { cert, key } = await site.authority.issue({ hosts: [mirrorName] })
      site.mirror.present({ cert, key })
      document.write(trustBundle, cert)
    },
  },
  {
    id: 'trust-bundle-no-pem',
    title: 'The trust bundle is a certificate in DER, pasted as base64 without its lines',
    section: 'trust bundle',
    expect: 'rehearse.trust-bundle-invalid',
    expectedStage: nodeImagePull,
    inject: ({ site, document }) => document.write(trustBundle, `${site.ca.replaceAll(/-----.*-----|\s/g, '')}\n`),
  },
  {
    id: 'trust-bundle-text-after',
    title: 'Something follows the last certificate of the trust bundle: the installer refuses to read it again',
    section: 'trust bundle',
    expect: 'rehearse.trust-bundle-invalid',
    inject: ({ document }) => document.edit(trustBundle, (text) => `${text}# added by hand\n`),
  },
  {
    id: 'trust-bundle-cut',
    title: 'The trust bundle was cut in the middle of its certificate',
    section: 'trust bundle',
    expect: 'rehearse.trust-bundle-invalid',
    expectedStage: nodeImagePull,
    inject: ({ document }) => document.edit(trustBundle, (text) => text.slice(0, text.length / 2)),
  },
]

const certificateFaults: readonly BootstrapFault[] = [
  {
    id: 'certificate-for-another-name',
    title: 'The certificate of the mirror is for its public name, the mirrors are named by the private one',
    section: '5.4 #3',
    expect: 'rehearse.certificate-name',
    expectedStage: nodeImagePull,
    inject: (bootstrap) => present(bootstrap, { hosts: ['mirror.example.com'] }),
  },
  {
    id: 'certificate-for-the-address',
    title: 'The certificate of the mirror is for its address, the mirrors are named by its name',
    section: '5.4 #3',
    at: before,
    expect: 'rehearse.certificate-name',
    expectedStage: releaseImagePull,
    inject: (bootstrap) => present(bootstrap, { hosts: ['127.0.0.1'] }),
  },
  {
    id: 'certificate-without-san',
    title: 'The certificate of the mirror has its name as common name only',
    section: '5.4 #2',
    expect: 'rehearse.certificate-no-san',
    expectedStage: nodeImagePull,
    inject: (bootstrap) => present(bootstrap, { hosts: [] }),
  },
  {
    id: 'certificate-expired',
    title: 'The certificate of the mirror expired an hour ago',
    section: '5.4 #5',
    at: before,
    expect: 'rehearse.certificate-expired',
    expectedStage: releaseImagePull,
    inject: (bootstrap) => {
      const now = bootstrap.site.clock.now()
      return present(bootstrap, { notBefore: now - 400 * 24 * hourMs, notAfter: now - hourMs })
    },
  },
  {
    id: 'certificate-not-yet-valid',
    title: 'The certificate of the mirror begins tomorrow',
    section: '5.4 #4',
    expect: 'rehearse.certificate-not-yet-valid',
    expectedStage: nodeImagePull,
    inject: (bootstrap) => present(bootstrap, { notBefore: bootstrap.site.clock.now() + 24 * hourMs }),
  },
]

const credentialFaults: readonly BootstrapFault[] = [
  {
    id: 'credentials-missing',
    title: 'The pull secret knows quay.io, and not the mirror',
    section: '5.4 #6',
    expect: 'rehearse.credentials-missing',
    expectedStage: nodeImagePull,
    inject: ({ site, document }) => document.write(pullSecret, pullSecretFor('quay.io', site.credentials)),
  },
  {
    id: 'credentials-for-another-port',
    title: 'The pull secret has the host of the mirror with another port',
    section: '5.4 #6',
    at: before,
    expect: 'rehearse.credentials-missing',
    expectedStage: releaseImagePull,
    inject: ({ site, document }) => document.write(pullSecret, pullSecretFor(`${mirrorName}:5000`, site.credentials)),
  },
  {
    id: 'credentials-without-port',
    title: 'The pull secret has the host of the mirror without its port',
    section: '5.4 #6',
    expect: 'rehearse.credentials-missing',
    expectedStage: nodeImagePull,
    inject: ({ site, document }) => document.write(pullSecret, pullSecretFor(mirrorName, site.credentials)),
  },
  {
    id: 'credentials-wrong',
    title: 'The password of the mirror was changed after the bootstrap.ign was made',
    section: '5.4 #6',
    at: before,
    expect: 'rehearse.credentials-refused',
    expectedStage: releaseImagePull,
    inject: ({ site }) => site.mirror.admit({ kind: 'basic', username: 'mirror', password: 'a newer one' }),
  },
  {
    id: 'credentials-may-not-read',
    title: 'The account of the pull secret may not read the components',
    section: '5.4 #6',
    expect: 'rehearse.denied',
    expectedStage: nodeImagePull,
    inject: ({ site }) =>
      site.mirror.fault({
        path: /\/openshift\/release\/manifests\//,
        status: 403,
        headers: { 'content-type': 'application/json' },
        body: '{"errors":[{"code":"DENIED","message":"requested access to the resource is denied"}]}',
      }),
  },
  {
    id: 'pull-secret-no-json',
    title: 'The pull secret is no JSON: a comma too many',
    section: '5.4 #6',
    expect: 'rehearse.pull-secret-invalid',
    expectedStage: nodeImagePull,
    inject: ({ document }) => document.edit(pullSecret, (text) => text.replace(/\}\}\s*$/, '},}')),
  },
  {
    id: 'pull-secret-of-nodes',
    title: 'The pull secret in the manifests lacks the mirror: the bootstrap goes well, and no node can pull',
    section: '5.4 #35',
    expect: 'rehearse.pull-secret-drift',
    inject: ({ site, document }) =>
      document.edit('/opt/openshift/manifests/openshift-config-secret-pull-secret.yaml', (text) => {
        const other = Buffer.from(pullSecretFor('quay.io', site.credentials)).toString('base64')
        return text.replace(/(\.dockerconfigjson: ).*/, `$1${other}`)
      }),
  },
]

export const trustFaults: readonly BootstrapFault[] = [...bundleFaults, ...certificateFaults, ...credentialFaults]

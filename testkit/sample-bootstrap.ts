/** A bootstrap.ign for tests: every option can be said, none has to be. */
import { sampleBootstrap } from '../src/quickstart/sample-bootstrap/bootstrap-config.ts'
import type { SampleBootstrapOptions } from '../src/quickstart/sample-bootstrap/bootstrap-options.ts'
import { sampleTlsAssets } from '../src/quickstart/sample-bootstrap/tls-assets.ts'
import { IgnitionDocument } from './ignition-document.ts'

/** When the certificates of `makeBootstrap` begin. */
export const madeAt = Date.UTC(2026, 5, 1, 12)
/** By digest, with the name that the installer has. */
export const sampleReleaseImage = `quay.io/openshift-release-dev/ocp-release@sha256:${'a'.repeat(64)}`

export async function makeBootstrap(options: Partial<SampleBootstrapOptions> = {}): Promise<IgnitionDocument> {
  const tls = options.tls ?? (await sampleTlsAssets({ ...options, seed: 'test', notBefore: madeAt }))
  const text = sampleBootstrap({
    era: '4.21',
    releaseImage: sampleReleaseImage,
    pullSecret: '{"auths":{"mirror.lab.test:8443":{"auth":"bWlycm9yOnBhc3N3b3Jk"}}}',
    digestSources: [
      {
        source: 'quay.io/openshift-release-dev/ocp-release',
        mirrors: ['mirror.lab.test:8443/ocp/openshift/release-images'],
      },
      {
        source: 'quay.io/openshift-release-dev/ocp-v4.0-art-dev',
        mirrors: ['mirror.lab.test:8443/ocp/openshift/release'],
      },
    ],
    ...options,
    tls,
  })
  return new IgnitionDocument(text)
}

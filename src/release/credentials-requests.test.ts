import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readLayerFolder } from '../archive/tar/layer-files-folder.ts'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { capabilitiesOf } from './capabilities.ts'
import { checkCloud, chooseCredentialsRequests, isCredentialsRequest } from './credentials-requests.ts'
import { type Inclusion, usualProfile, whyExcluded } from './extract-inclusion.ts'
import { type Manifest, parseManifests } from './extract-manifests.ts'

const archive = join(
  import.meta.dirname,
  '../../../shared/data/release/payload-4.12.0/ocp-4.12.0-x86_64-release-manifests.tar.gz',
)

/** The manifests of OpenShift 4.12.0, as they were released. */
async function realManifests(t: TestContext): Promise<readonly Manifest[] | undefined> {
  if (!existsSync(archive)) {
    t.skip('the payload of 4.12.0 is not here')
    return undefined
  }
  const bytes = await readFile(archive)
  const layer = { mediaType: mediaTypes.ociLayerGzip, digest: digestOf(bytes), size: bytes.length }
  const files = await readLayerFolder('release-manifests', {
    layers: [layer],
    open: async function* () {
      yield bytes
    },
    origin: '4.12.0',
  })
  const named = new Map([...files].map(([path, content]) => [path.slice('release-manifests/'.length), content]))
  const { manifests, unreadable } = parseManifests(named)
  assert.deepEqual(unreadable, [])
  return manifests
}

const usual: Inclusion = { profile: usualProfile, featureSet: '' }
const namesOf = (manifests: readonly Manifest[]) => manifests.map(({ name }) => name).toSorted()

test('of 4.12.0: every CredentialsRequest is found, in whatever file it stands', async (t) => {
  const manifests = await realManifests(t)
  if (!manifests) return
  assert.equal(manifests.filter(isCredentialsRequest).length, 62)
  assert.equal(chooseCredentialsRequests(manifests, {}).chosen.length, 62)
  const counts = [
    'alibabacloud',
    'aws',
    'azure',
    'gcp',
    'ibmcloud',
    'nutanix',
    'openstack',
    'ovirt',
    'powervs',
    'vsphere',
  ].map((platform) => [
    chooseCredentialsRequests(manifests, { platform }).chosen.length,
    chooseCredentialsRequests(manifests, { platform, inclusion: usual }).chosen.length,
  ])
  assert.deepEqual(counts, [
    [4, 4],
    [7, 6],
    [8, 7],
    [8, 7],
    [5, 5],
    [1, 1],
    [7, 7],
    [2, 2],
    [5, 4],
    [4, 4],
  ])
})

test('of 4.12.0: the requests for AWS are those that a usual cluster gets, with a reason for each that is left out', async (t) => {
  const manifests = await realManifests(t)
  if (!manifests) return
  const { chosen, leftOut } = chooseCredentialsRequests(manifests, { platform: 'aws', inclusion: usual })
  assert.deepEqual(namesOf(chosen), [
    'aws-ebs-csi-driver-operator',
    'cloud-credential-operator-iam-ro',
    'openshift-cloud-network-config-controller-aws',
    'openshift-image-registry',
    'openshift-ingress',
    'openshift-machine-api-aws',
  ])
  assert.deepEqual(
    leftOut.map(({ manifest, why }) => `${manifest.name}: ${why}`),
    ['openshift-cluster-api-aws: it is for the feature set TechPreviewNoUpgrade'],
  )
  const preview = { ...usual, featureSet: 'TechPreviewNoUpgrade' }
  assert.equal(chooseCredentialsRequests(manifests, { platform: 'aws', inclusion: preview }).chosen.length, 7)
})

test('of 4.12.0: a cluster without Storage asks for no credentials for it', async (t) => {
  const manifests = await realManifests(t)
  if (!manifests) return
  const chosen = (platform: string, baselineCapabilitySet: string, ...additionalEnabledCapabilities: string[]) => {
    const capabilities = capabilitiesOf('4.12.0', { baselineCapabilitySet, additionalEnabledCapabilities })
    return chooseCredentialsRequests(manifests, { platform, inclusion: { ...usual, capabilities } }).chosen.length
  }
  assert.deepEqual(
    [chosen('aws', 'None'), chosen('aws', 'v4.11'), chosen('aws', 'v4.12'), chosen('aws', 'vCurrent')],
    [5, 5, 6, 6],
  )
  assert.deepEqual([chosen('vsphere', 'None'), chosen('vsphere', 'None', 'Storage')], [2, 4])
})

test('of 4.12.0: which manifests a cluster gets', async (t) => {
  const manifests = await realManifests(t)
  if (!manifests) return
  const reasons = Map.groupBy(manifests, (manifest) => whyExcluded(manifest, usual) ?? 'included')
  assert.deepEqual(Object.fromEntries([...reasons].map(([why, those]) => [why, those.length])), {
    included: 812,
    'it is for the feature set TechPreviewNoUpgrade': 145,
    'it is not for the profile self-managed-high-availability': 28,
    'it has no annotations': 14,
  })
})

test('a platform without credentials gets none, also not those that name no cloud', async (t) => {
  const manifests = await realManifests(t)
  if (!manifests) return
  for (const platform of ['none', 'baremetal'])
    assert.deepEqual(chooseCredentialsRequests(manifests, { platform, inclusion: usual }).chosen, [])
  assert.throws(() => checkCloud('none'), { code: 'USAGE', hint: /aws, azure/ })
})

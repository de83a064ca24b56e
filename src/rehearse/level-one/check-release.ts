/** The release image itself: named once, readable, for the right architecture, and known to `oc`. */
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { repositoryName } from '../../oci/reference.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { BootstrapAccess } from '../bootstrap-access.ts'
import type { PulledImage } from '../pull/image-puller.ts'
import { evidenceText } from './config-places.ts'
import type { TriedImage } from './pull-images.ts'
import type { AbsentComponent, WantedImages } from './wanted-images.ts'

export function checkReleaseName({
  releaseImage,
  otherReleaseImages,
  fileName,
  files,
}: BootstrapConfig): readonly Finding[] {
  if (releaseImage === undefined) return [files.size === 0 ? pointer(fileName) : noBootstrap(fileName)]
  const [at] = releaseImage.evidence
  const unreadable =
    releaseImage.reference === undefined
      ? [
          finding({
            id: 'rehearse.release-image-invalid',
            severity: 'error',
            summary: `The release image "${releaseImage.text}" is no image reference`,
            evidence: evidenceText(at),
            remedy:
              'Make the Ignition configs with one: OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=HOST/REPOSITORY@sha256:…',
            ...(at && { where: at }),
          }),
        ]
      : []
  const others = otherReleaseImages.map(({ text, evidence: [other] }) =>
    finding({
      id: 'rehearse.release-images-differ',
      severity: 'error',
      summary: `Scripts of the config name two releases: ${releaseImage.text} and ${text}`,
      evidence: evidenceText(at, other),
      remedy: 'Make them name the same: what is pulled first is what podman then looks for by the other name.',
      ...(other && { where: other }),
    }),
  )
  return [...unreadable, ...others]
}

function pointer(fileName: string): Finding {
  return finding({
    id: 'rehearse.no-bootstrap',
    severity: 'error',
    summary: `${fileName} has no files: it points to a config somewhere else`,
    remedy:
      'Rehearse the config that it points to: bootstrap.ign, as openshift-install create ignition-configs writes it.',
  })
}

function noBootstrap(fileName: string): Finding {
  return finding({
    id: 'rehearse.no-bootstrap',
    severity: 'error',
    summary: `${fileName} is no config of a bootstrap host: no script of it names a release image`,
    evidence: 'looked for RELEASE_IMAGE in /usr/local/bin/release-image-download.sh, release-image.sh and bootkube.sh',
    remedy: 'Name bootstrap.ign, as openshift-install create ignition-configs writes it.',
  })
}

/** Where the image came and what is in it did not. */
export function checkPayload(
  release: Awaited<ReturnType<BootstrapAccess['release']>>,
  isPulled: boolean,
): readonly Finding[] {
  if (!(release instanceof KnownError) || !isPulled) return []
  return [
    finding({
      id: 'rehearse.release-unreadable',
      severity: 'error',
      summary: `The release image says nothing of its components: ${release.message}`,
      remedy: `${release.hint} Until it can be read, none of its components is proven.`,
    }),
  ]
}

export function checkComponents({ absent, unresolved }: WantedImages, version: string | undefined): readonly Finding[] {
  return [
    ...absent.map((one) => absentFinding(one, version ?? 'this release')),
    ...(unresolved.length === 0
      ? []
      : [
          finding({
            id: 'rehearse.image-name-unknown',
            severity: 'info',
            summary: `Scripts ask for images whose names cannot be read from them: ${unresolved.map(({ text }) => text).join(', ')}`,
            evidence: evidenceText(...unresolved.slice(0, 3).map(({ at }) => at)),
            remedy: 'Level 2 runs the scripts, and sees what they ask for.',
          }),
        ]),
  ]
}

function absentFinding({ name, isOptional, evidence: [at] }: AbsentComponent, version: string): Finding {
  return finding({
    id: 'rehearse.component-missing',
    severity: isOptional ? 'info' : 'error',
    summary: `A script asks ${version} for the image ${name}, which that release does not have`,
    evidence: evidenceText(at),
    remedy: isOptional
      ? 'Nothing: the script goes on without it.'
      : 'Scripts and release are of different versions: make the Ignition configs with the installer of this very release (sallyport release extract).',
    ...(at && { where: at }),
  })
}

/** An index without this architecture fails the pull itself; a plain image is only found to be for another machine. */
export function checkArchitecture(images: readonly TriedImage[], wanted: string): readonly Finding[] {
  const wrong = images.filter(({ pulls }) => {
    const { bootstrap: pull } = pulls
    return pull?.kind === 'pulled' && pull.architecture !== undefined && pull.architecture !== wanted
  })
  const [first] = wrong
  if (first === undefined) return []
  const found = first.pulls.bootstrap?.kind === 'pulled' ? first.pulls.bootstrap.architecture : undefined
  const what = wrong.length === 1 ? first.wanted.name : `${first.wanted.name} and ${wrong.length - 1} more images`
  const [at] = first.wanted.evidence
  return [
    finding({
      id: 'rehearse.architecture',
      severity: 'error',
      summary: `The control plane is ${wanted}, and ${what} ${wrong.length === 1 ? 'is' : 'are'} for ${found}`,
      evidence: evidenceText(at, `architecture in the config of the image ${first.wanted.reference}`),
      remedy: `Mirror the release for ${wanted} and make the Ignition configs with its installer; or, where the machines are ${found}: controlPlane.architecture of install-config.yaml, and --architecture ${found} here.`,
      ...(at && { where: at }),
    }),
  ]
}

const mirrorFiles = ['image-content-source-policy.yaml', 'image-digest-mirror-set.yaml']

/**
 * `oc adm release info` of bootkube, between two stages and in no record: it knows no registries.conf, only the mirrors of the
 * one manifest that the script names (OCPBUGS-13094).
 */
export async function checkOcMirrors(
  bootstrap: BootstrapConfig,
  access: BootstrapAccess,
  release: PulledImage,
): Promise<readonly Finding[]> {
  const script = bootstrap.files.get('/usr/local/bin/bootkube.sh')
  const named = bootstrap.releaseImage?.reference
  if (script === undefined || named === undefined || !/\boc adm release info\b/.test(script.text)) return []
  const manifests = '/opt/openshift/manifests'
  const names = mirrorFiles.filter((name) => script.text.includes(name))
  const path = names.map((name) => `${manifests}/${name}`).find((one) => bootstrap.files.has(one))
  const { digest } = release
  const pull = await access.pullAsOc(`${repositoryName(named)}@${digest}`, path)
  if (pull.kind === 'pulled') return []
  const at = path === undefined ? undefined : { file: path, line: 1 }
  const why =
    path === undefined ? `the config has none of ${names.join(', ')}` : `${path} leads to no mirror that has it`
  return [
    finding({
      id: 'rehearse.oc-release-info',
      severity: 'error',
      summary: `bootkube asks oc for the version of the release, and oc goes by a manifest, not by registries.conf: ${why}`,
      evidence: evidenceText(at, pull.message),
      remedy:
        'Let imageDigestSources of install-config.yaml name the mirror of the release image, so that the installer writes that manifest; or add the manifest under that very name.',
      ...(at && { where: at }),
    }),
  ]
}

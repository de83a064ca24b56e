/** What is wrong with a config by itself: nothing is asked over the network, and nothing is run. */
import { type Finding, finding } from '../../errors/finding.ts'
import type { BootstrapConfig } from './bootstrap-config.ts'
import type { Evidence } from './bootstrap-file.ts'
import type { CertificateReport, FoundCertificate } from './certificates.ts'
import type { RegistryDifference } from './compare-registries.ts'
import type { InspectedConfig, PointerTarget } from './inspected-config.ts'
import type { NodeRegistries } from './node-registries.ts'
import type { ScriptImages } from './script-images.ts'
import type { UnitOrder } from './unit-order.ts'

/** All that can be told of a config before anybody judges it. */
export interface InspectedFacts {
  readonly fileName: string
  /** Of the file as it is. */
  readonly sizeBytes: number
  readonly inspected: InspectedConfig
  /** Of other configs than a bootstrap's it says the same things, as far as they are there. */
  readonly bootstrap: BootstrapConfig
  readonly images: ScriptImages
  readonly pointers: readonly PointerTarget[]
  readonly certificates: CertificateReport
  /** The certificate that ends first; the config has to be used before. */
  readonly useBefore?: FoundCertificate
  readonly order: UnitOrder
  /** Of a bootstrap config only. */
  readonly nodes?: NodeRegistries
  readonly differences: readonly RegistryDifference[]
}

/** @param now milliseconds since the epoch */
export function inspectionFindings(seen: InspectedFacts, now: number): readonly Finding[] {
  const isBootstrap = seen.inspected.kind === 'bootstrap'
  return [
    ...timeFindings(seen, now),
    ...(isBootstrap ? releaseFindings(seen) : []),
    ...contentFindings(seen),
    ...certificateFindings(seen, now),
    ...(seen.nodes?.findings ?? []),
    // What nodes have more than the bootstrap host is no fault: mirror sets for operators are like that.
    ...seen.differences.map((difference) => difference.finding).filter(({ severity }) => severity !== 'info'),
    ...unitFindings(seen),
  ]
}

function placed({ file, line }: Evidence): Pick<Finding, 'evidence' | 'where'> {
  return { evidence: `${file}:${line}`, where: { file, line } }
}

function timeFindings({ useBefore, fileName }: InspectedFacts, now: number): readonly Finding[] {
  if (useBefore === undefined) return []
  const [at] = useBefore.seen
  const base = { evidence: `${useBefore.subject}${at === undefined ? '' : ` in ${at.at.file}`}` }
  if (Date.parse(useBefore.notAfter) <= now)
    return [
      finding({
        ...base,
        id: 'ignition.expired',
        severity: 'error',
        summary: `${fileName} cannot install anything any more: its first certificate ended at ${useBefore.notAfter}`,
        remedy:
          'Make configs anew with openshift-install, in a new folder: what .openshift_install_state.json holds is as old.',
      }),
    ]
  if (Date.parse(useBefore.notBefore) <= now) return []
  return [
    finding({
      ...base,
      id: 'ignition.not-yet-valid',
      severity: 'error',
      summary: `The certificates of ${fileName} are valid from ${useBefore.notBefore} on: a clock is wrong, here or where it was made`,
      remedy: 'Set the clock, also that of the bootstrap host: by chrony.conf where the network has a time server.',
    }),
  ]
}

function releaseFindings({ bootstrap, images }: InspectedFacts): readonly Finding[] {
  const { releaseImage, otherReleaseImages } = bootstrap
  const first = otherReleaseImages[0]?.evidence[0]
  return [
    ...(releaseImage === undefined
      ? [finding({ id: 'release.not-named', severity: 'warning', summary: 'No script names a release image' })]
      : []),
    ...(releaseImage !== undefined && releaseImage.reference === undefined
      ? [
          finding({
            id: 'release.no-reference',
            severity: 'error',
            summary: `${releaseImage.text} is no image reference: the bootstrap host cannot pull it`,
            ...(releaseImage.evidence[0] && placed(releaseImage.evidence[0])),
          }),
        ]
      : []),
    ...(first === undefined
      ? []
      : [
          finding({
            id: 'release.named-twice',
            severity: 'error',
            summary: `The scripts name different release images: ${releaseImage?.text} is pulled, and ${otherReleaseImages.map(({ text }) => text).join(', ')} asked`,
            remedy: 'Name the same in all of them; better, leave the scripts alone and redirect by registries.conf.',
            ...placed(first),
          }),
        ]),
    ...images.unresolved.map(({ text, at }) =>
      finding({
        id: 'release.image-unresolved',
        severity: 'info',
        summary: `A script asks the release for an image whose name is not in this file: ${text}`,
        ...placed(at),
      }),
    ),
  ]
}

function contentFindings({ bootstrap }: InspectedFacts): readonly Finding[] {
  const { files, registries, credentials } = bootstrap
  return [
    ...[...files.values()].flatMap(({ path, flaw }) =>
      flaw === undefined
        ? []
        : [
            finding({
              id: flaw.startsWith('its content is not') ? 'ignition.file-elsewhere' : 'ignition.file-broken',
              severity: flaw.startsWith('its content is not') ? 'info' : 'error',
              summary: `${path}: ${flaw}`,
              where: { file: path },
            }),
          ],
    ),
    ...registries.errors.map((error) =>
      finding({
        id: 'registries.conf-broken',
        severity: 'error',
        summary: `podman will refuse to pull anything: ${error.message}`,
        remedy: error.hint,
        where: { file: String(error.details['file'] ?? '') },
      }),
    ),
    ...(credentials?.flaw === undefined
      ? []
      : [
          finding({
            id: 'credentials.broken',
            severity: 'error',
            summary: `${credentials.path} holds no credentials: ${credentials.flaw}`,
            remedy: 'It has to be a pull secret: {"auths": {"HOST:PORT": {"auth": "…"}}}.',
            where: { file: credentials.path },
          }),
        ]),
  ]
}

function certificateFindings(
  { certificates: { certificates, broken } }: InspectedFacts,
  now: number,
): readonly Finding[] {
  const anchors = certificates.flatMap((certificate) => {
    const place = certificate.seen.find((one) => one.place === 'trust-anchor')
    return place === undefined ? [] : [{ certificate, at: place.at }]
  })
  return [
    ...broken.map((at) =>
      finding({
        id: 'trust.no-certificate',
        severity: 'error',
        summary: `What stands at ${at.file}:${at.line} begins like a certificate, and is none`,
        remedy: 'Put the whole PEM block there, from its BEGIN line to its END line.',
        ...placed(at),
      }),
    ),
    ...anchors.flatMap(({ certificate, at }) => anchorFindings(certificate, at, now)),
    ...certificates.flatMap(({ key, subject, seen }) =>
      key !== 'differs' || seen[0] === undefined
        ? []
        : [
            finding({
              id: 'tls.key-differs',
              severity: 'error',
              summary: `The key beside the certificate of ${subject} is not its own`,
              ...placed(seen[0].at),
            }),
          ],
    ),
  ]
}

function anchorFindings(certificate: FoundCertificate, at: Evidence, now: number): readonly Finding[] {
  const { subject, isCa, isSelfSigned, notAfter } = certificate
  const isOver = Date.parse(notAfter) <= now
  return [
    ...(isCa
      ? []
      : [
          finding({
            id: 'trust.no-authority',
            severity: 'warning',
            summary: `${subject} is to be trusted, and is no certificate authority${isSelfSigned ? '' : `: its issuer is ${certificate.issuer}`}`,
            remedy: 'Put the certificate of the authority there that signed the one of the mirror.',
            ...placed(at),
          }),
        ]),
    ...(isOver
      ? [
          finding({
            id: 'trust.expired',
            severity: 'error',
            summary: `${subject} is to be trusted, and ended at ${notAfter}`,
            remedy: 'Renew it, give the mirror a certificate under it, and make or patch the config anew.',
            ...placed(at),
          }),
        ]
      : []),
  ]
}

function unitFindings({ order }: InspectedFacts): readonly Finding[] {
  return [
    ...order.circles.map((names) =>
      finding({
        id: 'units.circle',
        severity: 'error',
        summary: `Units wait for each other, and systemd will drop one: ${names.join(', ')}`,
        remedy: 'Take one After= or Before= away.',
      }),
    ),
    ...order.missing.map(({ unit, path, at }) =>
      finding({
        id: 'units.program-missing',
        severity: 'warning',
        summary: `${unit} runs ${path}, which this config does not bring`,
        remedy: 'Add the file, unless the image that the machine boots has it.',
        ...placed(at),
      }),
    ),
    ...order.units.flatMap(({ name, isStarted, isMasked }) =>
      isStarted || isMasked
        ? []
        : [
            finding({
              id: 'units.not-started',
              severity: 'info',
              summary: `Nothing starts ${name}: it is not enabled, and no unit that starts wants it`,
            }),
          ],
    ),
  ]
}

/** What there is to know beside a pointer config. */
import type { Finding } from '../../errors/finding.ts'
import { redact } from '../../errors/redact.ts'
import type { PlatformLimit } from '../../ignition/size/platform-limits.ts'
import { renderFindings } from './findings.ts'
import { hasErrors } from './ignition-patch.ts'

export interface PointerView {
  readonly config: string
  readonly url: string
  readonly pointer: string
  readonly sizeBytes: number
  readonly hash: string | undefined
  readonly platform: PlatformLimit | undefined
  readonly output: string | undefined
  readonly gzip: string | undefined
  readonly findings: readonly Finding[]
}

export function renderPointer({ config, url, sizeBytes, platform, output, gzip, findings }: PointerView): string {
  const isRefused = hasErrors(findings)
  const room = platform === undefined ? '' : `; ${platform.what} takes ${platform.limitBytes.toLocaleString('en-US')}`
  const lines = isRefused
    ? ['refused: no pointer was written']
    : [
        `pointer of ${sizeBytes.toLocaleString('en-US')} bytes${room}${output === undefined ? '' : `: ${output}`}`,
        `serve ${gzip ?? config} at ${redact(url)}`,
      ]
  const told = findings.length > 0 ? `\n${renderFindings(findings)}` : ''
  return `${lines.join('\n')}\n${told}`
}

export function pointerDocument(view: PointerView): object {
  const { config, pointer, sizeBytes, hash, platform, output, gzip, findings } = view
  const isRefused = hasErrors(findings)
  return {
    config,
    isRefused,
    ...(!isRefused && { pointer: JSON.parse(pointer) }),
    sizeBytes,
    ...(hash !== undefined && { hash }),
    ...(platform !== undefined && { platform: platform.name, limitBytes: platform.limitBytes }),
    ...(output !== undefined && !isRefused && { output }),
    ...(gzip !== undefined && !isRefused && { gzip }),
    findings,
  }
}

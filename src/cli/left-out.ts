import type { ImageSetConfiguration } from '../config/image-set-configuration.ts'
import { type FailurePolicy, skippedClasses } from '../mirror/failure-policy.ts'
import type { ContentClass } from '../mirror/selection.ts'
import { count } from './render/quantities.ts'

/** A line for each class of content that the configuration asks for and the failure policy leaves out. */
export function leftOutLines({ mirror }: ImageSetConfiguration, policy: FailurePolicy): string[] {
  const { platform, operators, additionalImages, files = [], helm } = mirror
  const additional = [
    listed('additionalImages', additionalImages.length, 'image'),
    listed('files', files.length, 'file'),
  ]
  const asked: Record<ContentClass, string | undefined> = {
    release: platform && `mirror.platform${platform.release === undefined ? '' : `, ${platform.release}`}`,
    operator: listed('operators', operators.length, 'catalog'),
    additional: additional.filter((part) => part !== undefined).join('; ') || undefined,
    helm: helm && 'mirror.helm',
  }
  return [...skippedClasses(policy)].flatMap((name) =>
    asked[name] === undefined ? [] : [`left out (failure policy ${name}: skip): ${asked[name]}`],
  )
}

function listed(section: string, length: number, noun: string): string | undefined {
  return length === 0 ? undefined : `mirror.${section}, ${count(length, noun)}`
}

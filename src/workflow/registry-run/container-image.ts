import type { LiteralStep } from '../step-registry/model.ts'
import type { ContainerOptions } from './run-options.ts'

/** In front of the image in which an undo command is to run, as the first word of its record. */
export const imageMark = 'sallyport-image:'

/** What a step names its image: by a tag of the release, or in full. */
export function imageKey({ from, from_image: image }: LiteralStep): string {
  return image === undefined ? (from ?? '') : `${image.namespace}/${image.name}:${image.tag}`
}

export function imageOf(literal: LiteralStep, { images, image }: ContainerOptions): string | undefined {
  return images[imageKey(literal)] ?? image
}

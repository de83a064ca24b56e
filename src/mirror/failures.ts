/** The images that could not be had, each told once when it happens and kept for the end. */
import type { KnownError } from '../errors/known-error.ts'
import { formatReference } from '../oci/reference.ts'
import type { OnMirrorEvent } from './events.ts'
import type { SelectedImage } from './selection.ts'
import { asKnownError, type TransferReport } from './transfer.ts'

export interface FailedImage {
  readonly image: SelectedImage
  readonly error: KnownError
}

export class Failures {
  readonly #onEvent: OnMirrorEvent
  readonly #failed: FailedImage[] = []
  readonly #destinations = new Set<string>()

  constructor(onEvent: OnMirrorEvent) {
    this.#onEvent = onEvent
  }

  get list(): readonly FailedImage[] {
    return this.#failed
  }

  has({ destination }: SelectedImage): boolean {
    return this.#destinations.has(formatReference(destination))
  }

  add(image: SelectedImage, error: unknown): void {
    const known = asKnownError(error, formatReference(image.source))
    const destination = formatReference(image.destination)
    this.#failed.push({ image, error: known })
    this.#destinations.add(destination)
    this.#onEvent({
      type: 'image.failed',
      source: formatReference(image.source),
      destination,
      class: image.class,
      code: known.code,
      message: known.message,
      hint: known.hint,
    })
  }

  /** Those of `images` whose manifest a transfer could not store. */
  addFrom(report: TransferReport, images: readonly SelectedImage[]): void {
    for (const image of images) {
      const error = report.failures.get(formatReference(image.destination))
      if (error !== undefined) this.add(image, error)
    }
  }
}

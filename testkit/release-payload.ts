import { type SampleRelease, type SampleReleaseOptions, sampleRelease } from '../src/quickstart/sample-release.ts'

/** A release that is small enough for a test: every option can be said, none has to be. */
export function makeRelease(options: Partial<SampleReleaseOptions> = {}): SampleRelease {
  return sampleRelease({
    seed: 'release',
    version: '4.18.9',
    components: 12,
    sharedBases: 4,
    sharedLayerBytes: 4000,
    layerBytes: 800,
    ...options,
  })
}

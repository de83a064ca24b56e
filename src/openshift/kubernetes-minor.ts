/** OpenShift 4.0 would have had Kubernetes 1.13, and every minor since has had the next one. */
const minorOfFour = 13

/**
 * The minor version of Kubernetes 1 that a release of OpenShift is built on.
 *
 * @param minor of OpenShift, counted on from 4.0
 */
export function kubernetesMinor(minor: number): number {
  return minor + minorOfFour
}

/**
 * The scripts that come before bootkube: the release image, and what CRI-O and the kubelet need from it.
 *
 * Source of the contract: openshift/installer `data/data/bootstrap/files/usr/local/bin/{release-image,
 * release-image-download,crio-configure,kubelet-pause-image,kubelet}.sh.template`.
 */
import { isSince, type SampleBootstrapOptions } from './bootstrap-options.ts'

/** By name, without their folder. */
export function releaseImageScripts(options: SampleBootstrapOptions): Readonly<Record<string, string>> {
  const { releaseImage } = options
  return {
    'release-image.sh': library.replaceAll('@RELEASE_IMAGE@', releaseImage),
    'release-image-download.sh': download.replaceAll('@RELEASE_IMAGE@', releaseImage),
    'crio-configure.sh': crioConfigure,
    'kubelet-pause-image.sh': pauseImage,
    'kubelet.sh': kubelet(options),
  }
}

const library = `#!/usr/bin/env bash
# Sourced. RELEASE_IMAGE_DIGEST names the release by digest where it was pulled already; of an image for several platforms
# podman knows two digests, and the one that was pulled counts.
RELEASE_IMAGE_DIGEST=$(
  podman inspect @RELEASE_IMAGE@ --format json |
    jq -r '.[] | .Digest as $pulled | .RepoDigests[] | select(contains($pulled))'
) || RELEASE_IMAGE_DIGEST=
if [ -z "$RELEASE_IMAGE_DIGEST" ]; then
  echo "Warning: Could not resolve release image to pull by digest" 2>&1
  RELEASE_IMAGE_DIGEST="@RELEASE_IMAGE@"
fi

# image_for COMPONENT: the reference that the release has for it.
image_for() {
  podman run --quiet --rm --net=none "$RELEASE_IMAGE_DIGEST" image "$1"
}
`

const download = `#!/usr/bin/env bash
# Pulls the release image, however often that takes: systemd does not restart a oneshot service.
set -euo pipefail

. /usr/local/bin/bootstrap-service-record.sh

RELEASE_IMAGE=@RELEASE_IMAGE@
ISSUE=/etc/issue.d/50_release-image.issue

# show TEXT: on the console of the machine; nothing, without a text.
show() {
  if [ -n "$1" ]; then
    printf '\\n\\\\e{lightred}%s\\\\e{reset}\\n' "$1" > "$ISSUE"
  else
    rm -f "$ISSUE"
  fi
  agetty --reload
}

record_service_stage_start "pull-release-image"
if ! podman image exists "$RELEASE_IMAGE"; then
  echo "Pulling $RELEASE_IMAGE..."
  until podman pull --quiet "$RELEASE_IMAGE"; do
    show "Unable to pull OpenShift release image"
    record_service_stage_failure
    echo "Pull failed. Retrying $RELEASE_IMAGE..."
    record_service_stage_start "pull-release-image"
  done
  show ""
fi
record_service_stage_success

record_service_stage_start "image-metadata-arches-match"
image_arch=$(podman inspect "$RELEASE_IMAGE" --format '{{.Architecture}}')
case $(uname -m) in
  x86_64) host_arch=amd64 ;;
  aarch64) host_arch=arm64 ;;
  *) host_arch=$(uname -m) ;;
esac
if [ "$image_arch" != "$host_arch" ]; then
  show "Release image arch $image_arch does not match host arch $host_arch"
  record_service_stage_failure
  echo "ERROR: release image arch $image_arch does not match host arch $host_arch"
  exit 1
fi
record_service_stage_success
`

const crioConfigure = `#!/usr/bin/env bash
# CRI-O takes its pause image from the release, as it will on the nodes.
set -euo pipefail

. /usr/local/bin/bootstrap-service-record.sh
. /usr/local/bin/release-image.sh

pause_image=$(image_for pod)
mkdir --parents /etc/crio/crio.conf.d
cat > /etc/crio/crio.conf.d/50-bootstrap-override.conf <<CONF
[crio.runtime]
hooks_dir = ["/usr/share/containers/oci/hooks.d", "/etc/containers/oci/hooks.d"]
[crio.image]
pause_image = "$pause_image"
pause_command = "/usr/bin/pod"
CONF
`

const pauseImage = `#!/usr/bin/env bash
# Before the kubelet: the pause image of the release, as a variable of its unit.
set -euo pipefail

PRE_COMMAND="kubelet-pause-image"
. /usr/local/bin/bootstrap-service-record.sh
. /usr/local/bin/release-image.sh

echo "MACHINE_CONFIG_INFRA_IMAGE=$(image_for pod)" > /etc/kubernetes/kubelet-pause-image-override
`

/** A kubelet on its own: it runs static pods, and registers nowhere. Since 4.21 it is not told the pause image. */
function kubelet({ era }: SampleBootstrapOptions): string {
  const pauseImageFlag = isSince(era, '4.21') ? '' : ' \\\n  --pod-infra-container-image="$MACHINE_CONFIG_INFRA_IMAGE"'
  return `#!/usr/bin/env bash

. /usr/local/bin/bootstrap-service-record.sh

/usr/bin/kubelet \\
  --pod-manifest-path=/etc/kubernetes/manifests \\
  --container-runtime-endpoint=/var/run/crio/crio.sock \\
  --runtime-request-timeout="$KUBELET_RUNTIME_REQUEST_TIMEOUT" \\
  --volume-plugin-dir=/etc/kubernetes/kubelet-plugins/volume/exec \\
  --cluster-domain=cluster.local \\
  --cgroup-driver=systemd \\
  --serialize-image-pulls=false \\
  --minimum-container-ttl-duration=6m0s \\
  --anonymous-auth=false \\
  --v=2${pauseImageFlag}
`
}

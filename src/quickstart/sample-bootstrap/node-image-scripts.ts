/**
 * Since 4.19 the bootstrap host boots without the software of the release, and gets it from the image `rhel-coreos` first.
 *
 * Source of the contract: openshift/installer `data/data/bootstrap/files/usr/local/bin/node-image-{pull,overlay}.sh` and
 * `files/etc/systemd/system-generators`.
 */

/** Whatever can go wrong here is tried again without an end, and leaves no service record. */
export const nodeImagePullScript = `#!/bin/bash
# Fetches the image of the node's operating system and lays its files out, for node-image-overlay.sh.
set -euo pipefail

. /usr/local/bin/release-image.sh

coreos_img=rhel-coreos
until COREOS_IMAGE=$(image_for \${coreos_img}); do
  echo 'Failed to query release image; retrying...'
  sleep 10
done
echo "Booted: $(rpm-ostree status --json | jq -r '.deployments[0].version')"
echo "Wanted: $COREOS_IMAGE"

# A machine that runs from an ISO or from the network has no disk to write to: everything goes to memory.
if [ -f /run/ostree-live ]; then
  repository=/var/ostreecontainer/repo
  checkout=/var/ostreecontainer/checkout
  links=
  mkdir --parents "$repository"
  ostree init --mode=bare --repo="$repository"
  if [ -d /ostree/repo/refs/heads/ostree/container ]; then
    ostree pull-local --repo="$repository" /ostree/repo
  fi
else
  repository=/ostree/repo
  checkout=/ostree/repo/tmp/node-image
  links=-H
  mount -o rw,remount /sysroot
fi

until ostree container image pull --authfile /root/.docker/config.json \\
  "$repository" "ostree-unverified-image:docker://$COREOS_IMAGE"; do
  echo 'Failed to fetch release image; retrying...'
  sleep 10
done

reference=$(ostree refs --repo "$repository" | grep ^ostree/container/image/docker)
if [ "$(echo "$reference" | wc -l)" != 1 ]; then
  echo "More than one image in $repository: $reference"
  exit 1
fi
ostree refs --repo "$repository" "$reference" --create coreos/node-image
if [ -f /run/ostree-live ]; then
  mount -o bind,ro /etc /ostree/deploy/*/deploy/*/etc
fi

# What was changed below /etc stays as it is.
kept=$(ostree admin config-diff | cut -f5 -d' ' | sed -e 's,^,/usr/etc/,')
ostree checkout --repo "$repository" $links coreos/node-image "$checkout" --skip-list=<(echo "$kept")
`

export const nodeImageOverlayScript = `#!/bin/bash
# Puts the files of the fetched image over those of the running system; its kernel modules stay.
set -euo pipefail

checkout=/ostree/repo/tmp/node-image
[ -d "$checkout" ] || checkout=/var/ostreecontainer/checkout

mount -o bind,ro /usr/lib/modules "$checkout/usr/lib/modules"
mount -o rbind,ro "$checkout/usr" /usr
rsync -a "$checkout/usr/etc/" /etc
echo "Reloading SELinux policy"
semodule -R
`

/** Where the software is not there, the machine boots to the target that fetches it. */
export const nodeImageGenerator = `#!/bin/bash
set -euo pipefail

rpm -q openshift-clients &> /dev/null ||
  ln -sf /etc/systemd/system/node-image-overlay.target "\${1:-/tmp}/default.target"
`

/**
 * The scripts that collect logs when something went wrong.
 *
 * Source of the contract (what lies where in the bundle): openshift/installer
 * `data/data/bootstrap/files/usr/local/bin/{bootstrap-cluster-gather,installer-gather,installer-masters-gather}.sh`.
 */
export const gatherScripts: Readonly<Record<string, string>> = {
  'bootstrap-cluster-gather.sh': `#!/usr/bin/env bash
# Sourced. What the API still knows, kept for the bundle before bootkube starts anew.

cluster_bootstrap_gather() {
  local kept=/tmp/artifacts-api-server-temp kind
  mkdir --parents $kept/resources
  for kind in nodes pods csr events clusteroperators clusterversion machineconfigs machineconfigpools; do
    oc --kubeconfig=/opt/openshift/auth/kubeconfig --request-timeout=5s get "$kind" --all-namespaces -o json \\
      > "$kept/resources/$kind.json" || rm --force "$kept/resources/$kind.json"
  done
}
`,
  'installer-gather.sh': `#!/usr/bin/env bash
# The log bundle of the bootstrap host: installer-gather.sh --id ID [MASTER...]

id=$(date +%Y%m%d%H%M%S)
if [ "\${1-}" = --id ]; then
  id=$2
  shift 2
fi
bundle=/tmp/artifacts-$id
out=$bundle/bootstrap
mkdir --parents "$out"/{services,journals,network,containers,pods} "$bundle/rendered-assets"

cp /var/log/openshift/*.json "$out/services/"
for unit in approve-csr bootkube crio crio-configure kubelet release-image; do
  journalctl --boot --no-pager --output=short --unit="$unit" > "$out/journals/$unit.log"
done
journalctl --boot --no-pager -o with-unit | gzip > "$out/journals/journal.log.gz"
systemctl list-units --state=failed --no-legend > "$bundle/failed-units.txt"
ip addr > "$out/network/ip-addr.txt"
ip route > "$out/network/ip-route.txt"
cp /etc/resolv.conf "$out/network/"
for container in $(crictl ps --all --quiet); do
  crictl logs "$container" > "$out/containers/$container.log" 2>&1
done
podman ps --all --format '{{.Names}}' | while read -r name; do
  podman logs "$name" > "$out/pods/$name.log" 2>&1
done
rsync -a --exclude='*secret*' --exclude='*kubeconfig*' --exclude='*.key' /opt/openshift/ "$bundle/rendered-assets/openshift"
for master in "$@"; do
  mkdir --parents "$bundle/control-plane/$master"
  scp -o StrictHostKeyChecking=no /usr/local/bin/installer-masters-gather.sh "core@$master:"
  ssh -o StrictHostKeyChecking=no "core@$master" sudo ./installer-masters-gather.sh --id "$id" < /dev/null
  scp -r -o StrictHostKeyChecking=no "core@$master:/tmp/artifacts-$id/*" "$bundle/control-plane/$master/"
done
tar --create --gzip --file "$HOME/log-bundle-$id.tar.gz" --directory /tmp --transform "s,^artifacts-,log-bundle-," \\
  "artifacts-$id"
`,
  'installer-masters-gather.sh': `#!/usr/bin/env bash
# The same of a node of the control plane: installer-masters-gather.sh --id ID

out=/tmp/artifacts-$2
mkdir --parents "$out"/{journals,network,containers}
for unit in crio kubelet machine-config-daemon-host machine-config-daemon-firstboot; do
  journalctl --boot --no-pager --output=short --unit="$unit" > "$out/journals/$unit.log"
done
ip addr > "$out/network/ip-addr.txt"
for container in $(crictl ps --all --quiet); do
  crictl logs "$container" > "$out/containers/$container.log" 2>&1
done
`,
}

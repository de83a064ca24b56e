/**
 * The scripts that talk with the API, or ask whether it can be found.
 *
 * Source of the contract: openshift/installer `data/data/bootstrap/files/usr/local/bin/{bootstrap-verify-api-server-urls,
 * approve-csr,report-progress,wait-for-ha-api}.sh`.
 */
export const apiScripts: Readonly<Record<string, string>> = {
  'bootstrap-verify-api-server-urls.sh': `#!/usr/bin/env bash
# Sourced. Whether the names of the API can be resolved, and later whether it answers. Neither stops the bootstrap.

. /usr/local/bin/bootstrap-service-record.sh

# stage_for VERB NAME: resolve-api-url, check-api-int-url
stage_for() {
  case $2 in
    API_URL) echo "$1-api-url" ;;
    API_INT_URL) echo "$1-api-int-url" ;;
    *) echo "neither API_URL nor API_INT_URL: $2" >&2; return 1 ;;
  esac
}

# resolve_url NAME HOST
resolve_url() {
  echo "Checking if $2 of type $1 is resolvable"
  record_service_stage_start "$(stage_for resolve "$1")"
  if [ -n "$(dig "$2" +short)" ]; then
    echo "Successfully resolved $1 $2"
    record_service_stage_success
  else
    echo "Unable to resolve $1 $2"
    record_service_stage_failure
    return 1
  fi
}

# check_url NAME HOST
check_url() {
  local url="https://$2:6443/readyz"
  echo "Checking if $2 of type $1 reachable"
  record_service_stage_start "$(stage_for check "$1")"
  if [ "$(curl -k --get --silent --fail --write-out '%{http_code}' "$url" -o /dev/null)" = 200 ]; then
    echo "Success while trying to reach $1's https endpoint at $url"
    record_service_stage_success
  else
    echo "Unable to validate. $url is currently unreachable."
    record_service_stage_failure
    return 1
  fi
}
`,
  'approve-csr.sh': `#!/usr/bin/env bash
# Approves whatever asks for a certificate, until bootkube has done its work.

. /usr/local/bin/bootstrap-service-record.sh

KUBECONFIG=$1
until [ -f /opt/openshift/.bootkube.done ]; do
  oc --kubeconfig="$KUBECONFIG" get csr --no-headers | awk '/Pending/ { print $1 }' |
    xargs --no-run-if-empty oc --kubeconfig="$KUBECONFIG" adm certificate approve
  sleep 20
done
`,
  'report-progress.sh': `#!/usr/bin/env bash
# Tells the installer that the bootstrap is complete: by a ConfigMap in the new cluster.

. /usr/local/bin/bootstrap-service-record.sh
. /usr/local/bin/wait-for-ha-api.sh

KUBECONFIG=$1
record_service_stage_start "wait-for-bootstrap-complete"
echo "Waiting for bootstrap to complete..."
until [ -e /opt/openshift/.bootkube.done ]; do sleep 5; done
record_service_stage_success

wait_for_ha_api

record_service_stage_start "report-bootstrap-complete"
echo "Reporting install progress..."
until oc --kubeconfig="$KUBECONFIG" create configmap bootstrap --namespace kube-system --from-literal status=complete; do
  sleep 5
done
record_service_stage_success
`,
  'wait-for-ha-api.sh': `#!/usr/bin/env bash
# Sourced. A control plane of several nodes has to run on two of them before the bootstrap host may go.

wait_for_ha_api() {
  local topology="" nodes=""
  until [ -n "$topology" ]; do
    topology=$(oc --kubeconfig="$KUBECONFIG" get infrastructures cluster -o jsonpath='{.status.controlPlaneTopology}') ||
      sleep 5
  done
  [ "$topology" = HighlyAvailable ] || return 0
  until [ "$(echo "$nodes" | wc -w)" -gt 1 ]; do
    sleep 5
    nodes=$(oc --kubeconfig="$KUBECONFIG" get kubeapiservers cluster \\
      -o jsonpath='{range .status.nodeStatuses[?(@.currentRevision>0)]}{.nodeName}{" "}{end}') || nodes=""
  done
}
`,
}

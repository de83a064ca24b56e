/**
 * The stages of `bootkube.sh` as shell functions: which container renders, with what, and what is copied from it.
 *
 * Source of the contract: openshift/installer `data/data/bootstrap/files/usr/local/bin/bootkube.sh.template`.
 */
import { type BootstrapEra, isSince } from './bootstrap-options.ts'

/** The functions that `stage` calls. */
export function renderFunctions(era: BootstrapEra): string {
  const parts = [
    moveManifests,
    ...(isSince(era, '4.16') ? [renderApi] : []),
    ...(isSince(era, '4.19') ? [renderAuthApi] : []),
    renderConfig.replace('@API@', isSince(era, '4.16') ? ' --skip-api-rendering' : ''),
    renderVersionOperator,
    renderEtcd,
    renderKubeApiServer,
    renderControllerManagerAndScheduler,
    renderOperators,
    renderMachineConfigs,
  ]
  return parts.join('\n\n')
}

const moveManifests = `openshift_manifests() {
  cp openshift/* manifests/
}`

const renderApi = `api_bootstrap() {
  render api-render "$API_IMAGE" /usr/bin/render \\
    --asset-output-dir=/assets/api-bootstrap --rendered-manifest-dir=/assets/manifests \\
    --cluster-profile=self-managed-high-availability --payload-version="$VERSION"
  cp api-bootstrap/manifests/* manifests/
}`

const renderAuthApi = `auth_api_bootstrap() {
  render auth-api-render "$AUTH_OPERATOR_IMAGE" render \\
    --asset-output-dir=/assets/auth-api-bootstrap/manifests --rendered-manifest-dir=/assets/manifests \\
    --cluster-profile=self-managed-high-availability --payload-version="$VERSION"
  cp auth-api-bootstrap/manifests/* manifests/
}`

const renderConfig = `config_bootstrap() {
  local cloud=()
  if [ -f manifests/cloud-provider-config.yaml ]; then
    cloud=(--cloud-provider-config-input-file=/assets/manifests/cloud-provider-config.yaml)
  fi
  render config-render "$CONFIG_OPERATOR_IMAGE" /usr/bin/cluster-config-operator render@API@ \\
    --cluster-infrastructure-input-file=/assets/manifests/cluster-infrastructure-02-config.yml \\
    --cloud-provider-config-output-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml \\
    --config-output-file=/assets/config-bootstrap/config \\
    --asset-input-dir=/assets/tls --asset-output-dir=/assets/config-bootstrap \\
    --rendered-manifest-files=/assets/manifests --payload-version="$VERSION" "\${cloud[@]}"
}`

const renderVersionOperator = `cvo_bootstrap() {
  render cvo-render "$RELEASE_IMAGE_DIGEST" render \\
    --output-dir=/assets/cvo-bootstrap --release-image="$RELEASE_IMAGE_DIGEST" \\
    --cluster-version-manifest-path=/assets/manifests/cvo-overrides.yaml \\
    --feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml
  cp cvo-bootstrap/bootstrap/* bootstrap-manifests/
  cp cvo-bootstrap/manifests/* manifests/
  cp auth/kubeconfig-loopback /etc/kubernetes/kubeconfig
}`

const renderEtcd = `etcd_bootstrap() {
  render etcd-render "$CLUSTER_ETCD_OPERATOR_IMAGE" /usr/bin/cluster-etcd-operator render \\
    --asset-output-dir=/assets/etcd-bootstrap --etcd-image="$MACHINE_CONFIG_ETCD_IMAGE" \\
    --cluster-configmap-file=/assets/manifests/cluster-config.yaml \\
    --infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml \\
    --network-config-file=/assets/manifests/cluster-network-02-config.yml
  cp --recursive etcd-bootstrap/etc-kubernetes/* /etc/kubernetes/
  cp etcd-bootstrap/manifests/* manifests/
  cp etcd-bootstrap/tls/* tls/
}`

const renderKubeApiServer = `# take_rendered DIRECTORY
take_rendered() {
  cp "$1"/bootstrap-manifests/* bootstrap-manifests/
  [ ! -d "$1/manifests" ] || cp "$1"/manifests/* manifests/
}

kube_apiserver_bootstrap() {
  local out=kube-apiserver-bootstrap
  render kube-apiserver-render "$KUBE_APISERVER_OPERATOR_IMAGE" /usr/bin/cluster-kube-apiserver-operator render \\
    --manifest-etcd-serving-ca=etcd-ca-bundle.crt --manifest-etcd-server-urls="$ETCD_ENDPOINTS" \\
    --manifest-image="$OPENSHIFT_HYPERKUBE_IMAGE" --manifest-operator-image="$KUBE_APISERVER_OPERATOR_IMAGE" \\
    --asset-input-dir=/assets/tls --asset-output-dir=/assets/$out --config-output-file=/assets/$out/config \\
    --cluster-config-file=/assets/manifests/cluster-network-02-config.yml \\
    --cluster-auth-file=/assets/manifests/cluster-authentication-02-config.yaml \\
    --infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml \\
    --rendered-manifest-files=/assets/manifests --payload-version="$VERSION" \\
    --operand-kubernetes-version="$KUBERNETES_VERSION"
  cp $out/config /etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml
  take_rendered $out
}`

const renderControllerManagerAndScheduler = `kube_controller_manager_bootstrap() {
  local out=kube-controller-manager-bootstrap
  render kube-controller-render "$KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE" \\
    /usr/bin/cluster-kube-controller-manager-operator render \\
    --cluster-policy-controller-image="$OPENSHIFT_CLUSTER_POLICY_IMAGE" --manifest-image="$OPENSHIFT_HYPERKUBE_IMAGE" \\
    --asset-input-dir=/assets/tls --asset-output-dir=/assets/$out \\
    --config-output-file=/assets/$out/config --cpc-config-output-file=/assets/$out/cpc-config \\
    --cluster-config-file=/assets/manifests/cluster-network-02-config.yml \\
    --rendered-manifest-files=/assets/manifests --payload-version="$VERSION"
  cp $out/config /etc/kubernetes/bootstrap-configs/kube-controller-manager-config.yaml
  cp $out/cpc-config /etc/kubernetes/bootstrap-configs/cluster-policy-controller-config.yaml
  take_rendered $out
  [ ! -d $out/tls ] || cp $out/tls/* tls/
}

kube_scheduler_bootstrap() {
  local out=kube-scheduler-bootstrap
  render kube-scheduler-render "$KUBE_SCHEDULER_OPERATOR_IMAGE" /usr/bin/cluster-kube-scheduler-operator render \\
    --manifest-image="$OPENSHIFT_HYPERKUBE_IMAGE" \\
    --asset-input-dir=/assets/tls --asset-output-dir=/assets/$out --config-output-file=/assets/$out/config
  cp $out/config /etc/kubernetes/bootstrap-configs/kube-scheduler-config.yaml
  take_rendered $out
}`

const renderOperators = `ingress_operator_bootstrap() {
  render ingress-render "$INGRESS_OPERATOR_IMAGE" render \\
    --prefix=cluster-ingress- --output-dir=/assets/ingress-operator-manifests
  cp ingress-operator-manifests/* manifests/
}

node_tuning_bootstrap() {
  render node-tuning-render "$NODE_TUNING_OPERATOR_IMAGE" render \\
    --asset-input-dir=/assets/manifests --asset-output-dir=/assets/node-tuning-bootstrap
  [ -z "$(ls -A node-tuning-bootstrap)" ] || cp node-tuning-bootstrap/* manifests/
}

cco_bootstrap() {
  render cco-render --user 0 "$CLOUD_CREDENTIAL_OPERATOR_IMAGE" render \\
    --dest-dir=/assets/cco-bootstrap --manifests-dir=/assets/manifests \\
    --cloud-credential-operator-image="$CLOUD_CREDENTIAL_OPERATOR_IMAGE"
  # Neither is there without the capability.
  [ ! -d cco-bootstrap/manifests ] || cp cco-bootstrap/manifests/* manifests/
  [ ! -f cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml ] ||
    cp cco-bootstrap/bootstrap-manifests/* bootstrap-manifests/
}`

const renderMachineConfigs = `mco_bootstrap() {
  local cloud=() platform
  [ ! -f tls/cloud-ca-cert.pem ] || cloud+=(--cloud-provider-ca-file=/assets/tls/cloud-ca-cert.pem)
  [ ! -f manifests/cloud-provider-config.yaml ] ||
    cloud+=(--cloud-config-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml)

  # All images that the release names: the operator takes from it what it needs.
  podman run --quiet --rm --net=none --entrypoint=cat "$RELEASE_IMAGE_DIGEST" \\
    /release-manifests/image-references > image-references
  render mco-render --user 0 "$MACHINE_CONFIG_OPERATOR_IMAGE" bootstrap \\
    --root-ca=/assets/tls/root-ca.crt --kube-ca=/assets/tls/kube-apiserver-complete-client-ca-bundle.crt \\
    --config-file=/assets/manifests/cluster-config.yaml --dest-dir=/assets/mco-bootstrap \\
    --pull-secret=/assets/manifests/openshift-config-secret-pull-secret.yaml \\
    --release-image="$RELEASE_IMAGE_DIGEST" --image-references=assets/image-references \\
    --payload-version="$VERSION" "\${cloud[@]}"

  # What the first controller and the first server of machine configs read, mirror sets of the user among it.
  mkdir --parents /etc/mcc/bootstrap /etc/mcs/bootstrap /etc/ssl/mcs \\
    /etc/kubernetes/manifests /etc/kubernetes/static-pod-resources
  cp mco-bootstrap/bootstrap/manifests/* /etc/mcc/bootstrap/
  cp openshift/* /etc/mcc/bootstrap/
  cp manifests/* image-references /etc/mcc/bootstrap/
  cp auth/kubeconfig-kubelet /etc/mcs/kubeconfig
  cp mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml /etc/kubernetes/manifests/
  for platform in baremetal openstack ovirt vsphere nutanix gcp aws azure; do
    [ -d mco-bootstrap/$platform/manifests ] || continue
    cp mco-bootstrap/$platform/manifests/* /etc/kubernetes/manifests/
    cp --recursive mco-bootstrap/$platform/static-pod-resources/* /etc/kubernetes/static-pod-resources/
  done
  cp mco-bootstrap/manifests/* manifests/
  cp tls/machine-config-server.crt /etc/ssl/mcs/tls.crt
  cp tls/machine-config-server.key /etc/ssl/mcs/tls.key
}`

/** From the addresses of the API on: what waits for others. */
export const bootkubeEnd = `# once NAME COMMAND...: notes that it succeeded, and goes on where it did not.
once() {
  [ ! -f "$1.done" ] || return 0
  ! "\${@:2}" || touch "$1.done"
}
once api-dns-resolved resolve_url API_URL "$API_SERVER_URL"
once api-int-dns-resolved resolve_url API_INT_URL "$API_INT_SERVER_URL"

stage cco-bootstrap

record_service_stage_start "wait-for-etcd"
until payload_run --name etcdctl --env ETCDCTL_API=3 --volume /opt/openshift/tls:/opt/openshift/tls:ro,z \\
  --entrypoint etcdctl "$MACHINE_CONFIG_ETCD_IMAGE" --dial-timeout=10m --endpoints="$ETCD_ENDPOINTS" \\
  --cacert=/opt/openshift/tls/etcd-ca-bundle.crt --cert=/opt/openshift/tls/etcd-client.crt \\
  --key=/opt/openshift/tls/etcd-client.key endpoint health; do
  echo "etcdctl failed. Retrying in 5 seconds..."
  sleep 5
done
record_service_stage_success

REQUIRED_PODS=openshift-kube-apiserver/kube-apiserver,openshift-kube-scheduler/openshift-kube-scheduler
REQUIRED_PODS+=,openshift-kube-controller-manager/kube-controller-manager
REQUIRED_PODS+=,openshift-cluster-version/cluster-version-operator
if [ ! -f cb-bootstrap.done ]; then
  echo "Starting cluster-bootstrap..."
  record_service_stage_start "cb-bootstrap"
  status=0
  render cluster-bootstrap --volume /etc/kubernetes:/etc/kubernetes:z "$CLUSTER_BOOTSTRAP_IMAGE" \\
    start --tear-down-early=false --asset-dir=/assets --required-pods="$REQUIRED_PODS" || status=$?
  if [ $status -ne 0 ]; then
    set +u
    cluster_bootstrap_gather
    exit $status
  fi
  touch cb-bootstrap.done
  record_service_stage_success
fi

# Until here the version operator left alone what the installer made; from here on, what the user says.
if [ ! -f cvo-overrides.done ]; then
  record_service_stage_start "cvo-overrides"
  until oc patch clusterversion.config.openshift.io version --kubeconfig=/opt/openshift/auth/kubeconfig \\
    --type=merge --patch-file=/opt/openshift/original_cvo_overrides.patch; do
    echo "Trying again to restore CVO overrides"
    sleep 10
  done
  touch cvo-overrides.done
  record_service_stage_success
fi
rm --force /etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml

record_service_stage_start "wait-for-ceo"
echo "Waiting for CEO to finish..."
render wait-for-ceo "$CLUSTER_ETCD_OPERATOR_IMAGE" /usr/bin/cluster-etcd-operator wait-for-ceo \\
  --kubeconfig /assets/auth/kubeconfig
record_service_stage_success

once api-dns-check check_url API_URL "$API_SERVER_URL"
once api-int-dns-check check_url API_INT_URL "$API_INT_SERVER_URL"

touch /opt/openshift/.bootkube.done
echo "bootkube.service complete"
`

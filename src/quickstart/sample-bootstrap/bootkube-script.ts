/**
 * `bootkube.sh`: which images it asks for, which stages it goes through, and in what order.
 *
 * Source of the contract: openshift/installer `data/data/bootstrap/files/usr/local/bin/bootkube.sh.template`, and its
 * history for what came when.
 */
import { bootkubeEnd, renderFunctions } from './bootkube-stages.ts'
import { type BootstrapEra, clusterDomain, isSince, type SampleBootstrapOptions } from './bootstrap-options.ts'

interface BootstrapImage {
  readonly variable: string
  /** As the release names it. */
  readonly component: string
  readonly since?: BootstrapEra
  /** The first era without it. */
  readonly until?: BootstrapEra
}

const images: readonly BootstrapImage[] = [
  { variable: 'MACHINE_CONFIG_OPERATOR_IMAGE', component: 'machine-config-operator' },
  { variable: 'MACHINE_CONFIG_OSCONTENT', component: 'machine-os-content', until: '4.16' },
  { variable: 'MACHINE_CONFIG_ETCD_IMAGE', component: 'etcd' },
  { variable: 'MACHINE_CONFIG_INFRA_IMAGE', component: 'pod' },
  { variable: 'CLUSTER_ETCD_OPERATOR_IMAGE', component: 'cluster-etcd-operator' },
  { variable: 'API_IMAGE', component: 'cluster-config-api', since: '4.16' },
  { variable: 'CONFIG_OPERATOR_IMAGE', component: 'cluster-config-operator' },
  { variable: 'KUBE_APISERVER_OPERATOR_IMAGE', component: 'cluster-kube-apiserver-operator' },
  { variable: 'KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE', component: 'cluster-kube-controller-manager-operator' },
  { variable: 'KUBE_SCHEDULER_OPERATOR_IMAGE', component: 'cluster-kube-scheduler-operator' },
  { variable: 'INGRESS_OPERATOR_IMAGE', component: 'cluster-ingress-operator' },
  { variable: 'NODE_TUNING_OPERATOR_IMAGE', component: 'cluster-node-tuning-operator' },
  { variable: 'AUTH_OPERATOR_IMAGE', component: 'cluster-authentication-operator', since: '4.19' },
  { variable: 'CLOUD_CREDENTIAL_OPERATOR_IMAGE', component: 'cloud-credential-operator' },
  { variable: 'OPENSHIFT_HYPERKUBE_IMAGE', component: 'hyperkube' },
  { variable: 'OPENSHIFT_CLUSTER_POLICY_IMAGE', component: 'cluster-policy-controller' },
  { variable: 'CLUSTER_BOOTSTRAP_IMAGE', component: 'cluster-bootstrap' },
]

/** Components that the scripts of this era ask the release for; `rhel-coreos` is asked for by node-image-pull. */
export function bootstrapComponents(era: BootstrapEra): readonly string[] {
  const asked = images.filter((image) => isUsed(image, era)).map(({ component }) => component)
  return [...asked, ...(isSince(era, '4.19') ? ['rhel-coreos'] : [])]
}

function isUsed({ since, until }: BootstrapImage, era: BootstrapEra): boolean {
  return (since === undefined || isSince(era, since)) && (until === undefined || !isSince(era, until))
}

/** Of the stages that are rendered, in order; after them come the addresses of the API, and the stages that wait. */
const renderStages: readonly { readonly stage: string; readonly since?: BootstrapEra }[] = [
  { stage: 'openshift-manifests' },
  { stage: 'api-bootstrap', since: '4.16' },
  { stage: 'auth-api-bootstrap', since: '4.19' },
  { stage: 'config-bootstrap' },
  { stage: 'cvo-bootstrap' },
  { stage: 'etcd-bootstrap' },
  { stage: 'kube-apiserver-bootstrap' },
  { stage: 'kube-controller-manager-bootstrap' },
  { stage: 'kube-scheduler-bootstrap' },
  { stage: 'ingress-operator-bootstrap' },
  { stage: 'node-tuning-bootstrap' },
  { stage: 'mco-bootstrap' },
]

export function bootkubeScript(options: SampleBootstrapOptions): string {
  const { era } = options
  const asked = images
    .filter((image) => isUsed(image, era))
    .map(({ variable, component }) => `${variable}=$(image_for ${component})`)
  const [first, ...others] = renderStages
    .filter(({ since }) => since === undefined || isSince(era, since))
    .map(({ stage }) => stage)
  const logDriver = isSince(era, '4.21') ? ' --log-driver=k8s-file' : ''
  const domain = clusterDomain(options)
  return [
    prologue.replace('@LOG_DRIVER@', logDriver),
    renderFunctions(era),
    asked.join('\n'),
    'mkdir --parents bootstrap-manifests manifests',
    `stage ${first}`,
    releaseVersions,
    others.map((stage) => `stage ${stage}`).join('\n'),
    `API_SERVER_URL="api.${domain}"\nAPI_INT_SERVER_URL="api-int.${domain}"`,
    bootkubeEnd,
  ].join('\n\n')
}

const prologue = `#!/usr/bin/env bash
# Starts the temporary control plane. Every stage leaves STAGE.done in /opt/openshift: a second run goes on after the last.
set -euoE pipefail

. /usr/local/bin/bootstrap-service-record.sh
. /usr/local/bin/release-image.sh
. /usr/local/bin/bootstrap-cluster-gather.sh
. /usr/local/bin/bootstrap-verify-api-server-urls.sh

mkdir --parents /etc/kubernetes/{manifests,bootstrap-configs,bootstrap-manifests}

# In the network of the host: addresses of containers could be those of the site.
payload_run() {
  podman run --quiet --net=host --rm@LOG_DRIVER@ "$@"
}

# render NAME OPTION... IMAGE ARGUMENT...: a container that reads and writes the assets.
render() {
  local name=$1
  shift
  payload_run --name "$name" --volume "$PWD:/assets:z" "$@"
}

# stage NAME: once, by the function that is called as it is, with underscores.
stage() {
  [ ! -f "$1.done" ] || return 0
  record_service_stage_start "$1"
  echo "Stage $1"
  rm --recursive --force "$1"
  "\${1//-/_}"
  touch "$1.done"
  record_service_stage_success
}

ETCD_ENDPOINTS=https://localhost:2379`

/** Not within a stage: where it fails, no record says so. */
const releaseVersions = `mirror_flag=()
if [ -f manifests/image-content-source-policy.yaml ]; then
  mirror_flag=("--icsp-file=$PWD/manifests/image-content-source-policy.yaml")
elif [ -f manifests/image-digest-mirror-set.yaml ]; then
  mirror_flag=("--idms-file=$PWD/manifests/image-digest-mirror-set.yaml")
fi

# release_info JSONPATH
release_info() {
  oc adm release info -o "jsonpath=$1" "\${mirror_flag[@]}" "$RELEASE_IMAGE_DIGEST"
}
VERSION=$(release_info '{.metadata.version}')
KUBERNETES_VERSION=$(release_info '{.displayVersions.kubernetes.Version}')`

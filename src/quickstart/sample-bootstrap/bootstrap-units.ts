/**
 * The units of a bootstrap: which start which, and which are enabled.
 *
 * Source of the contract: openshift/installer `data/data/bootstrap/systemd`, `files/etc/systemd/system` and
 * `pkg/asset/ignition/bootstrap/common.go:commonEnabledServices`.
 */
import type { Unit } from '../../ignition/config.ts'
import { type BootstrapEra, isSince, type SampleBootstrapOptions } from './bootstrap-options.ts'

/** Units as Ignition has them. Those of the node image are files: a generator starts them, before Ignition's presets count. */
export function bootstrapUnits({ platform }: SampleBootstrapOptions): readonly Unit[] {
  return [...commonUnits, ...(platform === 'baremetal' ? [bareMetalUnit] : [])]
}

const commonUnits: readonly Unit[] = [
  enabled(
    'approve-csr.service',
    `[Unit]
Description=Approval of certificate requests while the cluster is bootstrapped
Wants=bootkube.service
After=bootkube.service

[Service]
ExecStart=/usr/local/bin/approve-csr.sh /opt/openshift/auth/kubeconfig-loopback
Restart=on-failure
RestartSec=5s

[Install]
WantedBy=multi-user.target
`,
  ),
  unit(
    'bootkube.service',
    `[Unit]
Description=Temporary control plane
Requires=crio-configure.service
Wants=kubelet.service
After=kubelet.service crio-configure.service
ConditionPathExists=!/opt/openshift/.bootkube.done

[Service]
WorkingDirectory=/opt/openshift
ExecStart=/usr/local/bin/bootkube.sh
Restart=on-failure
RestartSec=5s
`,
  ),
  unit(
    'crio-configure.service',
    `[Unit]
Description=Pause image of the release for CRI-O
Requires=release-image.service
After=release-image.service
Before=crio.service

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=/usr/local/bin/crio-configure.sh

[Install]
RequiredBy=crio.service
`,
  ),
  enabled(
    'kubelet.service',
    `[Unit]
Description=Kubelet for the static pods of the temporary control plane
Wants=rpc-statd.service crio.service release-image.service
After=crio.service release-image.service

[Service]
Type=notify
NotifyAccess=all
Environment=KUBELET_RUNTIME_REQUEST_TIMEOUT=10m
EnvironmentFile=-/etc/kubernetes/kubelet-env
EnvironmentFile=-/etc/kubernetes/kubelet-pause-image-override
ExecStartPre=/bin/mkdir --parents /etc/kubernetes/manifests /etc/kubernetes/kubelet-plugins/volume/exec
ExecStartPre=/usr/local/bin/kubelet-pause-image.sh
ExecStart=/usr/local/bin/kubelet.sh
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
`,
  ),
  enabled(
    'progress.service',
    `[Unit]
Description=Report that the bootstrap is complete
Wants=bootkube.service
After=bootkube.service

[Service]
ExecStart=/usr/local/bin/report-progress.sh /opt/openshift/auth/kubeconfig
Restart=on-failure
RestartSec=5s

[Install]
WantedBy=multi-user.target
`,
  ),
  unit(
    'release-image.service',
    `[Unit]
Description=Release image
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=/usr/local/bin/release-image-download.sh
`,
  ),
  {
    name: 'systemd-journal-gatewayd.service',
    dropins: [
      {
        name: 'certs.conf',
        contents: `[Service]
ExecStart=
ExecStart=/usr/lib/systemd/systemd-journal-gatewayd \\
  --key=/opt/openshift/tls/journal-gatewayd.key \\
  --cert=/opt/openshift/tls/journal-gatewayd.crt \\
  --trust=/opt/openshift/tls/root-ca.crt
`,
      },
    ],
  },
  {
    name: 'zincati.service',
    dropins: [{ name: 'okd-machine-os-disabled.conf', contents: '[Unit]\nConditionPathExists=/enoent\n' }],
  },
  enabled(
    'chown-gatewayd-key.service',
    `[Unit]
Description=Key of the journal gateway for its user
Before=systemd-journal-gatewayd.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c ". /usr/local/bin/bootstrap-service-record.sh; getent passwd systemd-journal-gateway || useradd -r systemd-journal-gateway; chown systemd-journal-gateway: /opt/openshift/tls/journal-gatewayd.crt /opt/openshift/tls/journal-gatewayd.key"

[Install]
WantedBy=multi-user.target
`,
  ),
  { name: 'systemd-journal-gatewayd.socket', enabled: true, contents: '' },
]

const bareMetalUnit = enabled(
  'master-bmh-update.service',
  `[Unit]
Description=Bare metal hosts of the control plane
Wants=bootkube.service
After=release-image.service
Before=progress.service

[Service]
Type=oneshot
RemainAfterExit=true
Environment="CONTROL_PLANE_REPLICA_COUNT=3"
ExecStart=/usr/local/bin/master-bmh-update.sh
Restart=on-failure
RestartSec=10

[Install]
WantedBy=multi-user.target
`,
)

/** Units that are files below /etc/systemd/system, by their name. */
export function nodeImageUnits(era: BootstrapEra): Readonly<Record<string, string>> {
  if (!isSince(era, '4.19')) return {}
  const hasMount = isSince(era, '4.21')
  return {
    'node-image-finish.service': finishUnit,
    'node-image-overlay.service': overlayUnit,
    'node-image-overlay.target': overlayTarget,
    'node-image-pull.service': pullUnit
      .replace('@WANTS@', hasMount ? 'Wants=var-ostreecontainer.mount\n' : '')
      .replace('@AFTER@', hasMount ? ' var-ostreecontainer.mount' : ''),
    ...(hasMount && { 'var-ostreecontainer.mount': scratchMount }),
  }
}

const pullUnit = `[Unit]
Description=Node Image Pull
@WANTS@Requires=network.target NetworkManager.service
After=network.target@AFTER@

[Service]
Type=oneshot
RemainAfterExit=yes
MountFlags=slave
# Under SELinux the script needs the type of the program that it calls.
ExecStartPre=chcon --reference=/usr/bin/ostree /usr/local/bin/node-image-pull.sh
ExecStart=/usr/local/bin/node-image-pull.sh
`

const overlayUnit = `[Unit]
Description=Node Image Overlay
Requires=node-image-pull.service
After=node-image-pull.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/bin/node-image-overlay.sh
`

const finishUnit = `[Unit]
Description=Node Image Finish
Requires=node-image-overlay.service
After=node-image-overlay.service

[Service]
Type=oneshot
ExecStart=/usr/bin/echo "The node image is there: on to multi-user.target"
ExecStart=/usr/bin/systemctl --no-block isolate multi-user.target
`

const overlayTarget = `[Unit]
Description=Node Image Overlay Target
Requires=basic.target sshd.service getty.target systemd-user-sessions.service
Requires=node-image-overlay.service node-image-finish.service
`

const scratchMount = `[Unit]
Description=Room for the node image where there is no disk
Requires=run-ephemeral.mount
After=run-ephemeral.mount
ConditionPathExists=/run/ostree-live

[Mount]
What=tmpfs
Where=/var/ostreecontainer
Type=tmpfs
Options=size=5G
`

function unit(name: string, contents: string): Unit {
  return { name, contents }
}

function enabled(name: string, contents: string): Unit {
  return { name, contents, enabled: true }
}

/**
 * The kubeconfigs below /opt/openshift/auth.
 *
 * Source of the contract: openshift/installer `pkg/asset/kubeconfig`.
 */
import { clusterDomain, type SampleBootstrapOptions } from './bootstrap-options.ts'

/** Texts by their place below /opt/openshift. */
export function kubeconfigFiles(options: SampleBootstrapOptions): Readonly<Record<string, string>> {
  const { tls } = options
  const server = `https://api-int.${clusterDomain(options)}:6443`
  const ca = tls['kube-apiserver-complete-server-ca-bundle.crt'] ?? ''
  const admin = {
    user: 'admin',
    certificate: tls['admin-kubeconfig-client.crt'] ?? '',
    key: tls['admin-kubeconfig-client.key'] ?? '',
  }
  const kubelet = {
    user: 'kubelet',
    certificate: tls['kubelet-client.crt'] ?? '',
    key: tls['kubelet-client.key'] ?? '',
  }
  return {
    'auth/kubeconfig': kubeconfig({ ...options, server, ca, ...admin }),
    'auth/kubeconfig-kubelet': kubeconfig({ ...options, server, ca, ...kubelet }),
    'auth/kubeconfig-loopback': kubeconfig({
      ...options,
      server: 'https://localhost:6443',
      ca: tls['kube-apiserver-localhost-ca-bundle.crt'] ?? '',
      ...admin,
      user: 'loopback',
    }),
  }
}

interface Access {
  readonly clusterName?: string
  readonly server: string
  readonly ca: string
  readonly user: string
  readonly certificate: string
  readonly key: string
}

function kubeconfig({ clusterName = 'demo', server, ca, user, certificate, key }: Access): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return `clusters:
- cluster:
    certificate-authority-data: ${base64(ca)}
    server: ${server}
  name: ${clusterName}
contexts:
- context:
    cluster: ${clusterName}
    user: ${user}
  name: ${user}
current-context: ${user}
preferences: {}
users:
- name: ${user}
  user:
    client-certificate-data: ${base64(certificate)}
    client-key-data: ${base64(key)}
`
}

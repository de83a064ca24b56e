/** Whether what a patch replaces was a secret, which then stands in the undo. */

const secretPaths =
  /(?:\.key|\/kubeconfig[^/]*|\/\.docker\/config\.json|\/kubelet\/config\.json|\/shadow-?|\.pem\.key|\/\.ssh\/id_[^/.]+)$/

const secretText =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|"auths?"\s*:|\bpassword(?:Hash)?\b\s*[:=]|\$(?:6|y|2[aby])\$|client-key-data|[a-z]+:\/\/[^\s/@]+:[^\s/@]+@/i

export function isSecret(path: string, contents: Uint8Array | undefined): boolean {
  if (contents === undefined || contents.byteLength === 0) return false
  return secretPaths.test(path) || secretText.test(Buffer.from(contents).toString('latin1'))
}

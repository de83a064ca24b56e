/** What no rehearsal shows, however it went. */

const always = [
  'SELinux labels and policy',
  'that ostree unpacks the node image',
  'how CRI-O finds credentials for static pods',
  'load balancers and the machine config server, as machines reach them',
  'kernel, firmware and FIPS of the machines',
  'that routes, DNS and firewall are for the machines as they are for this one',
  'the bytes of layers: each was asked for, not read',
]

export function notProven({ isRun }: { readonly isRun: boolean }): readonly string[] {
  return isRun ? always : ['the scripts themselves (level 2)', ...always]
}

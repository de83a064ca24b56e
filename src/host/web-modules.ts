/**
 * node:http, node:https and node:tls, loaded without `import`.
 *
 * An import statement reads every export of a built-in module, and among those of node:http is a getter that loads the
 * whole of undici: 20 ms of each start of the program. TLS costs another 15 ms, and is not always needed.
 */
export const http: typeof import('node:http') = process.getBuiltinModule('node:http')

export function https(): typeof import('node:https') {
  return process.getBuiltinModule('node:https')
}

export function tls(): typeof import('node:tls') {
  return process.getBuiltinModule('node:tls')
}

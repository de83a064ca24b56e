/**
 * kubeconfig: where the API of a cluster is, and who we are there.
 *
 * Source: kubernetes/client-go `tools/clientcmd/api/v1/types.go`.
 */
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { readTextFile } from './yaml-document.ts'

/** What it takes to ask the API of a cluster. Certificates and keys are PEM. */
export interface ClusterAccess {
  readonly server: string
  /** Undefined: the authorities of this machine. */
  readonly ca?: string
  readonly serverName?: string
  readonly isInsecure: boolean
  readonly token?: string
  readonly certificate?: { readonly cert: string; readonly key: string }
}

const Cluster = z.object({
  server: z.string(),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.string().optional(),
  'tls-server-name': z.string().optional(),
  'insecure-skip-tls-verify': z.boolean().default(false),
  'proxy-url': z.string().optional(),
})

const User = z.object({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.string().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.string().optional(),
})

const Kubeconfig = z.object({
  'current-context': z.string().optional(),
  contexts: z.array(z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string() }) })),
  clusters: z.array(z.object({ name: z.string(), cluster: Cluster })),
  users: z.array(z.object({ name: z.string(), user: User })),
})

/**
 * The access that the current context of a kubeconfig gives.
 *
 * @throws KnownError FILE_UNREADABLE, KUBECONFIG_INVALID
 */
export async function loadClusterAccess(path: string): Promise<ClusterAccess> {
  const invalid = (why: string) => new KnownError('KUBECONFIG_INVALID', `${path}: ${why}`, { details: { file: path } })
  const result = Kubeconfig.safeParse(readYaml(await readTextFile(path), invalid))
  if (!result.success) {
    throw invalid(result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '))
  }
  const config = result.data
  const name = config['current-context'] ?? ''
  const context = config.contexts.find((one) => one.name === name)?.context
  if (!context) throw invalid(`there is no context "${name}", which current-context names`)
  const cluster = config.clusters.find((one) => one.name === context.cluster)?.cluster
  if (!cluster) throw invalid(`there is no cluster "${context.cluster}", which the context "${name}" names`)
  const user = config.users.find((one) => one.name === context.user)?.user
  if (!user) throw invalid(`there is no user "${context.user}", which the context "${name}" names`)
  if (cluster['proxy-url']) throw invalid('proxy-url is not carried out by this version of sallyport')
  const read = pemReader(dirname(path))
  const ca = await read(cluster['certificate-authority-data'], cluster['certificate-authority'])
  return {
    server: cluster.server,
    isInsecure: cluster['insecure-skip-tls-verify'],
    ...(ca !== undefined && { ca }),
    ...(cluster['tls-server-name'] && { serverName: cluster['tls-server-name'] }),
    ...(await credentialsOf(user, read, () =>
      invalid(`the user "${context.user}" has neither a token nor a certificate`),
    )),
  }
}

type Read = (data: string | undefined, file: string | undefined) => Promise<string | undefined>

async function credentialsOf(
  user: z.infer<typeof User>,
  read: Read,
  missing: () => KnownError,
): Promise<Pick<ClusterAccess, 'token' | 'certificate'>> {
  // A file that is named wins over the token beside it: it is renewed (client-go `rest/config.go:BearerTokenFile`).
  const token = ((await read(undefined, user.tokenFile)) ?? user.token)?.trim()
  const cert = await read(user['client-certificate-data'], user['client-certificate'])
  const key = await read(user['client-key-data'], user['client-key'])
  if (!token && !(cert && key)) throw missing()
  return { ...(token && { token }), ...(cert && key && { certificate: { cert, key } }) }
}

/** Data in base64 wins over a file, whose path is relative to the kubeconfig. */
function pemReader(directory: string): Read {
  return async (data, file) => {
    if (data) return Buffer.from(data, 'base64').toString('utf8')
    return file ? readTextFile(resolve(directory, file)) : undefined
  }
}

function readYaml(text: string, invalid: (why: string) => KnownError): unknown {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' })
  const [broken] = document.errors
  if (broken) throw invalid(broken.message)
  try {
    return document.toJS()
  } catch (error) {
    // An alias of nothing, or one that would unfold without end.
    throw error instanceof ReferenceError ? invalid(error.message) : error
  }
}

/** How a scripted registry lets people in: basic, or bearer with a token service of its own. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface ScriptedAuth {
  readonly kind: 'basic' | 'bearer'
  readonly username: string
  readonly password: string
  /** Bearer: everybody gets a token to read with. */
  readonly anonymousPull?: boolean
  /** Bearer: `expires_in`; absent, the answer does not say. */
  readonly tokenSeconds?: number
  /** Bearer: a token service elsewhere, instead of `/token` here. */
  readonly realm?: string
  /** Bearer: accepted as a refresh token (OAuth2). */
  readonly identityToken?: string
  /** Bearer: tokens that are valid now; a test that clears it makes the registry forget them. */
  readonly tokens?: Map<string, { readonly scope: string; readonly canWrite: boolean }>
}

const issued = new WeakMap<ScriptedAuth, Map<string, { scope: string; canWrite: boolean }>>()

function tokensOf(auth: ScriptedAuth): Map<string, { readonly scope: string; readonly canWrite: boolean }> {
  if (auth.tokens !== undefined) return auth.tokens
  const known = issued.get(auth) ?? new Map()
  issued.set(auth, known)
  return known
}

/** Answers requests for tokens; false where this is none. */
export function issueToken(auth: ScriptedAuth, request: IncomingMessage, response: ServerResponse): boolean {
  const url = new URL(request.url ?? '', 'http://registry.invalid')
  if (auth.kind !== 'bearer' || url.pathname !== '/token') return false
  const chunks: Uint8Array[] = []
  request.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  request.once('end', () => {
    const form = new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
    const isPost = request.method === 'POST'
    const isKnown = isPost
      ? auth.identityToken !== undefined && form.get('refresh_token') === auth.identityToken
      : request.headers.authorization === basicOf(auth)
    const isAnonymous = !isPost && request.headers.authorization === undefined && auth.anonymousPull === true
    if (!isKnown && !isAnonymous) return refuse(response, 401)
    const scope = (isPost ? form.get('scope') : url.searchParams.getAll('scope').join(' ')) ?? ''
    const tokens = tokensOf(auth)
    const token = `scripted-${tokens.size + 1}`
    tokens.set(token, { scope, canWrite: isKnown })
    const life = auth.tokenSeconds === undefined ? {} : { expires_in: auth.tokenSeconds }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ token, ...life }))
  })
  request.resume()
  return true
}

/** False after a challenge was sent. */
export function authorize(auth: ScriptedAuth, request: IncomingMessage, response: ServerResponse): boolean {
  const given = request.headers.authorization
  if (auth.kind === 'basic') {
    if (given === basicOf(auth)) return true
    request.resume()
    refuse(response, 401, 'Basic realm="scripted"')
    return false
  }
  const { scope, action } = scopeOf(request)
  const token = tokensOf(auth).get(given?.replace(/^Bearer /, '') ?? '')
  if (token !== undefined && mayDo(token, scope, action)) return true
  const realm = auth.realm ?? `http://${request.headers.host}/token`
  request.resume()
  refuse(response, 401, `Bearer realm="${realm}",service="scripted",scope="${scope}:${action}"`)
  return false
}

function scopeOf(request: IncomingMessage): { scope: string; action: string } {
  const name = /^\/v2\/(.+?)\/(?:manifests|blobs|tags|referrers)\//.exec(request.url ?? '')?.[1] ?? ''
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const write = request.method === 'DELETE' ? 'delete' : 'pull,push'
  return { scope: `repository:${name}`, action: isRead ? 'pull' : write }
}

function mayDo(token: { scope: string; canWrite: boolean }, scope: string, action: string): boolean {
  if (scope === 'repository:') return true
  const granted = token.scope.split(' ').find((one) => one.startsWith(`${scope}:`))
  return (
    granted !== undefined &&
    (action === 'pull' || (token.canWrite && (granted.endsWith(action) || granted.endsWith('*'))))
  )
}

function basicOf({ username, password }: ScriptedAuth): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

function refuse(response: ServerResponse, status: number, challenge?: string): void {
  const body = JSON.stringify({ errors: [{ code: 'UNAUTHORIZED', message: 'authentication required' }] })
  response
    .writeHead(status, {
      'content-type': 'application/json',
      ...(challenge !== undefined && { 'www-authenticate': challenge }),
    })
    .end(body)
}

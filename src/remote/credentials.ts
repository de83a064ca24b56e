/** Who we are at a registry. Never printed, never put into an argument of another program. */

export type Credentials =
  | { readonly kind: 'password'; readonly username: string; readonly password: string; readonly key: string }
  /** An OAuth2 refresh token, as `docker login` keeps for some registries. */
  | { readonly kind: 'identity-token'; readonly username: string; readonly token: string; readonly key: string }
  /** A bearer token for the registry itself: sent as it is, to a registry that asks for one. */
  | { readonly kind: 'registry-token'; readonly username: string; readonly token: string; readonly key: string }

/** What a token service is shown. */
export type LoginCredentials = Exclude<Credentials, { readonly kind: 'registry-token' }>

/** Finds credentials. `key` in what it returns says which entry they came from, for messages and caches. */
export interface CredentialsProvider {
  /**
   * @param registry `host` or `host:port`
   * @param repository path within it; entries may be for a part of it
   */
  find(registry: string, repository?: string): Promise<Credentials | undefined>
  /** True where the user has an entry for this very host. Default: where `find` has one. */
  names?(registry: string): Promise<boolean>
}

export const noCredentials: CredentialsProvider = { find: async () => undefined }

/**
 * The same for every registry. That is no word about the host of a token service, so only an entry in `files` makes one
 * trusted (docs/adr/0004).
 */
export function fixedCredentials(credentials: Credentials, files: CredentialsProvider): CredentialsProvider {
  return {
    find: async () => credentials,
    names: async (registry) => (await files.find(registry)) !== undefined,
  }
}

/** `Authorization` of RFC 7617. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** Who we are at a registry. Never printed, never put into an argument of another program. */

export type Credentials =
  | { readonly kind: 'password'; readonly username: string; readonly password: string; readonly key: string }
  /** An OAuth2 refresh token, as `docker login` keeps for some registries. */
  | { readonly kind: 'identity-token'; readonly username: string; readonly token: string; readonly key: string }

/** Finds credentials. `key` in what it returns says which entry they came from, for messages and caches. */
export interface CredentialsProvider {
  /**
   * @param registry `host` or `host:port`
   * @param repository path within it; entries may be for a part of it
   */
  find(registry: string, repository?: string): Promise<Credentials | undefined>
}

export const noCredentials: CredentialsProvider = { find: async () => undefined }

/** `Authorization` of RFC 7617. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

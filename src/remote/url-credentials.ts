/**
 * The value of an `Authorization` header for the name and password in a URL (RFC 7617); undefined where it has none.
 *
 * A percent sign that begins no escape stands for itself: people paste passwords as they are.
 */
export function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === '') return undefined
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}

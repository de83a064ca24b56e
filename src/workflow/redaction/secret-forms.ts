/**
 * How programs write a secret: the byte strings to look for. Everything here is one character a byte (latin1).
 *
 * Escapes are those of encoders that are met in logs: JSON of JavaScript, Go and Python, percent-encoding of browsers, curl,
 * Go and Python, words as a shell prints them with `set -x` and `printf %q`.
 */
import { base64Forms, wrappedBase64Forms } from './base64-forms.ts'

/** Characters beside the unreserved ones (RFC 3986 section 2.3) that an encoder leaves as they are. */
const keptInUrls = ['', "!'()*", '/', '$&+=:@', '$&+,;=', "!#$&'()*+,/:;=?@", '*-._']
/** Encoders differ only for short secrets in ways worth their room. */
const maxVariedBytes = 512

/** All forms of one secret, itself among them. */
export function secretForms(secret: string): Set<string> {
  const forms = new Set<string>([secret])
  const add = (more: Iterable<string>) => {
    for (const form of more) forms.add(form)
  }
  const escaped = jsonForms(secret)
  add(escaped)
  add([...escaped].flatMap((form) => [...jsonForms(form)]))
  add(urlForms(secret))
  add(shellForms(secret))
  const encoded = base64Forms(secret)
  add(encoded)
  add(wrappedBase64Forms(secret))
  for (const form of escaped) if (form !== secret) add(base64Forms(form))
  // A Secret of Kubernetes that holds "auth" of a pull secret is base64 of base64.
  if (secret.length <= maxVariedBytes) for (const form of encoded) if (!form.endsWith('=')) add(base64Forms(form))
  return forms
}

function jsonForms(secret: string): Set<string> {
  const plain = [...secret].map((char) => jsonEscapes[char] ?? (char < ' ' ? unicodeEscape(char) : char)).join('')
  const forms = new Set([plain, plain.replace(/[<>&]/g, unicodeEscape), plain.replaceAll('/', '\\/')])
  forms.add(plain.replaceAll('+', '\\u002b').replace(/[<>&'=]/g, unicodeEscape))
  const unicode = Buffer.from(plain, 'latin1').toString('utf8')
  if (!unicode.includes('\ufffd')) forms.add(unicode.replace(/[\u007f-\uffff]/g, unicodeEscape))
  const upper = [...forms].map((form) => form.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`))
  return new Set([...forms, ...upper])
}

const jsonEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function urlForms(secret: string): Set<string> {
  const forms = new Set<string>()
  for (const kept of secret.length <= maxVariedBytes ? keptInUrls : ['']) {
    const encoded = secret.replace(/[^A-Za-z0-9._~-]/g, (char) => (kept.includes(char) ? char : percent(char)))
    for (const form of [
      encoded,
      encoded.replaceAll('%20', '+'),
      encoded.replaceAll('%20', '+').replaceAll('~', '%7E'),
    ]) {
      forms.add(form)
      forms.add(form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))
    }
  }
  return forms
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

function shellForms(secret: string): string[] {
  const ansi = secret.replace(/[\\'\x7f-\xff]|\p{Cc}/gu, (char) => ansiEscapes[char] ?? octal(char))
  return [
    secret.replaceAll("'", "'\\''"),
    secret.replaceAll("'", `'"'"'`),
    secret.replace(/["$\\`]/g, '\\$&'),
    secret.replace(/["$\\`!]/g, '\\$&'),
    secret.replace(/[^A-Za-z0-9_/.,:+@%=^\n\x80-\xff-]/g, '\\$&'),
    secret.replace(/[^A-Za-z0-9_/.:+@%=\n\x80-\xff-]/g, '\\$&'),
    ansi,
  ]
}

/** ANSI-C quoting, bash(1) "QUOTING": how bash prints a word with control characters in it. */
const ansiEscapes: Readonly<Record<string, string>> = {
  "'": "\\'",
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\x1b': '\\E',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

function octal(char: string): string {
  return `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`
}

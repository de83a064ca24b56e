/** Names in a secret manager (openshift/ci-tools: pkg/gsm-validation). */
import type { StepCredential } from './model.ts'

const maxCollectionLength = 50
const collectionPattern = /^[a-z0-9_-]*[a-z0-9]$/
const groupPart = '[a-zA-Z0-9]+(?:[a-zA-Z0-9_-]*[a-zA-Z0-9]+)?'
const groupPattern = new RegExp(`^(?:--dot--)?${groupPart}(?:/${groupPart})*$`)

/** Faults of `collection`, `group`, `field` and `as`, in the words of ci-tools. */
export function secretNameFaults(at: string, credential: StepCredential): readonly string[] {
  const { collection = '', group = '', field, as } = credential
  const isCollection =
    collection.length <= maxCollectionLength && isUnderscoredWell(collection) && collectionPattern.test(collection)
  const isGroup = isUnderscoredWell(group) && groupPattern.test(group)
  return [
    ...(isCollection ? [] : [`${at}.collection: "${collection}" is not a valid collection name`]),
    ...(isGroup ? [] : [`${at}.group: "${group}" is not a valid group name`]),
    ...(field ? fileNameFaults(`${at}.field`, field) : []),
    ...(as ? fileNameFaults(`${at}.as`, as) : []),
  ]
}

function isUnderscoredWell(name: string): boolean {
  return !name.startsWith('_') && !name.endsWith('_') && !name.includes('__')
}

/** Dots and double underscores are written `--dot--` and `--uu--`, since a secret manager takes neither. */
function fileNameFaults(at: string, encoded: string): readonly string[] {
  const name = encoded
    .replaceAll('--dot--', '.')
    .replace(/--u{2,}--/g, (match) => '_'.repeat(match.length - '----'.length))
  const decodes = `${at}: mount file name "${encoded}" decodes to`
  if (name === '') return [`${decodes} an empty string`]
  if (name.startsWith('/')) return [`${decodes} "${name}" which is an absolute path`]
  if (name.split('/').includes('..')) return [`${decodes} "${name}" which contains a path traversal segment`]
  const forbidden = name.match(/[^a-zA-Z0-9\-._]/gu)
  const allowed = 'decoded names must only contain letters, numbers, dashes (-), dots (.), and underscores (_)'
  return forbidden
    ? [`${decodes} "${name}" which contains forbidden characters (${forbidden.join(', ')}); ${allowed}`]
    : []
}

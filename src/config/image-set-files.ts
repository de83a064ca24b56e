/**
 * Files that travel beside the images: an addition of Sallyport to the format, unknown to oc-mirror.
 *
 * `files` has the same fields in `mirror:` and in `delete:`; there a name with a checksum or a tag will do.
 */
import * as z from 'zod'
import { isFileName, repositoryComponent } from '../oci/file-artifact.ts'
import { always } from './image-set-rules.ts'
import { values } from './image-set-values.ts'
import { entriesOf, textOf } from './loose-values.ts'

const addition = 'An addition of Sallyport, unknown to oc-mirror.'

const fields = {
  url: z
    .string()
    .superRefine(checkUrl)
    .optional()
    .meta({
      description: 'Where the file is fetched from: http:// or https://.',
      examples: [
        'https://mirror.openshift.com/pub/openshift-v4/clients/ocp/4.18.9/openshift-client-linux-4.18.9.tar.gz',
      ],
      pattern: '^https?://.+',
    }),
  path: values.name
    .optional()
    .meta({ description: 'A file of this machine, relative to the directory that the command is run in.' }),
  sha256: z
    .string()
    .regex(/^(?:sha256:)?[0-9a-fA-F]{64}$/, {
      error: ({ input }) => `"${input}" is no sha256 checksum: 64 hex digits, as sha256sum prints them`,
    })
    .optional()
    .meta({ description: 'Checksum of the file. Required for a URL.' }),
  name: z
    .string()
    .refine(isFileName, { error: ({ input }) => `"${input}" is no plain file name` })
    .optional()
    .meta({ description: 'Name of the file on the other side. Default: the last part of the URL or path.' }),
  targetRepo: values.repositoryPath.optional().meta({
    description: 'Repository at the target, without host and tag. Default: files/ and the name in lower case.',
  }),
  targetTag: values.tag.optional().meta({
    description: 'Tag at the target. Default: the first 12 digits of the checksum; latest where there is none.',
  }),
}

const FileEntry = z.strictObject(fields)
export type FileEntry = z.infer<typeof FileEntry>

/** `mirror.files` */
export const FileContent = z
  .array(FileEntry.superRefine(checkFile, always))
  .superRefine(checkPlaces, always)
  .optional()
  .meta({ description: `Files that travel with the images. ${addition}` })

/** `delete.files` */
export const DeletedFileContent = z
  .array(FileEntry.superRefine(checkDeletedFile, always))
  .superRefine(checkPlaces, always)
  .optional()
  .meta({ description: `Files to delete, as mirror.files names them, or by name and checksum or tag. ${addition}` })

/** `platform.bootImages` */
export const BootImageContent = z
  .array(
    z.strictObject({
      platform: z
        .string()
        .regex(/^[a-z][a-z0-9-]*$/, { error: ({ input }) => `"${input}" is no platform, as metal and vmware are` })
        .meta({
          description: 'Platform, as the stream metadata of CoreOS names it.',
          examples: ['vmware', 'metal', 'aws', 'azure', 'gcp', 'nutanix', 'openstack', 'qemu', 'ibmcloud', 'powervs'],
        }),
      architecture: z
        .enum(['amd64', 'arm64', 'ppc64le', 's390x'])
        .optional()
        .meta({ description: 'Architecture of the machines. Default: that of the release; amd64 for multi.' }),
      format: values.name.optional().meta({
        description: 'Format of the file. May be left out where the platform has only one.',
        examples: ['ova', 'iso', 'pxe', 'raw.gz', 'qcow2.gz', 'vmdk.gz', 'vhd.gz', 'tar.gz'],
      }),
    }),
  )
  .optional()
  .meta({ description: `Boot images of CoreOS that the releases name, as files. ${addition}` })
export type BootImageEntry = NonNullable<z.infer<typeof BootImageContent>>[number]

/** Where a file goes: what the configuration says, and what follows from it where it says nothing. */
export interface FilePlace {
  readonly name: string
  /** Below the target. */
  readonly repository: string
  /** That of the entry, or what follows from the checksum, or `latest`. */
  readonly tag: string
}

/** Undefined where no name can be found in the entry. */
export function filePlace({ url, path, name, sha256, targetRepo, targetTag }: FileEntry): FilePlace | undefined {
  const found = name ?? (url === undefined ? lastPart(path ?? '') : lastPartOfUrl(url))
  if (found === undefined || !isFileName(found)) return undefined
  const tag = targetTag ?? (sha256 === undefined ? 'latest' : fileTag(sha256))
  return { name: found, repository: targetRepo ?? fileRepository(found), tag }
}

export function fileRepository(name: string): string {
  return `files/${repositoryComponent(name)}`
}

/** @param sha256 with or without `sha256:` before it */
function fileTag(sha256: string): string {
  return sha256
    .toLowerCase()
    .replace(/^sha256:/, '')
    .slice(0, 12)
}

function lastPart(path: string): string | undefined {
  return path.split('/').findLast((part) => part !== '')
}

function lastPartOfUrl(url: string): string | undefined {
  const last = lastPart(URL.parse(url)?.pathname ?? '')
  try {
    return last === undefined ? undefined : decodeURIComponent(last)
  } catch {
    // A % that is none.
    return last
  }
}

function checkUrl(text: string, context: z.RefinementCtx): void {
  const url = URL.parse(text)
  const refuse = (message: string) => context.addIssue({ code: 'custom', message })
  if (!url || url.hostname === '') refuse(`"${text}" is not a URL, for example https://mirror.lab/file.tar.gz`)
  else if (url.protocol !== 'http:' && url.protocol !== 'https:')
    refuse(
      `files are fetched by http and https, not by ${url.protocol.slice(0, -1)}; a file of this machine is named with path`,
    )
  else if (url.username !== '' || url.password !== '')
    refuse('a name and password in a URL are not read: this file travels with the archive; take them out')
}

function checkFile(file: unknown, context: z.RefinementCtx): void {
  const [url, path] = [textOf(file, 'url'), textOf(file, 'path')]
  const refuse = (message: string, ...field: string[]) => context.addIssue({ code: 'custom', path: field, message })
  if (url === undefined && path === undefined) refuse('a file needs a url or a path')
  if (url !== undefined && path !== undefined) refuse('a file has a url or a path, not both; take one out', 'path')
  if (url !== undefined && textOf(file, 'sha256') === undefined)
    refuse('a file behind a URL needs its checksum: add sha256, as the publisher tells it or sha256sum prints it')
  checkName(file, context)
}

function checkDeletedFile(file: unknown, context: z.RefinementCtx): void {
  const fieldsOfPlace = ['path', 'sha256', 'targetTag'] as const
  if (!fieldsOfPlace.some((field) => textOf(file, field) !== undefined)) {
    const message = 'which version of the file is to be deleted must be said: add its sha256, or its targetTag'
    context.addIssue({ code: 'custom', message })
  }
  checkName(file, context)
}

function checkName(file: unknown, context: z.RefinementCtx): void {
  const entry = entryOf(file)
  if (entry.name !== undefined || filePlace(entry) !== undefined) return
  context.addIssue({ code: 'custom', message: 'no plain file name is in the url or path; add a name' })
}

/** Two files in one place: the second would replace the first. */
function checkPlaces(files: unknown, context: z.RefinementCtx): void {
  const seen = new Map<string, string>()
  for (const [index, file] of entriesOf({ files }, 'files').entries()) {
    const found = filePlace(entryOf(file))
    if (!found) continue
    const place = `${found.repository}:${found.tag}`
    const other = seen.get(place)
    if (other !== undefined) {
      const message = `"${found.name}" would be stored as ${place}, and so would "${other}" above; give one of them a targetRepo or targetTag`
      context.addIssue({ code: 'custom', path: [index], message })
    }
    seen.set(place, found.name)
  }
}

/** The texts of an entry that may have others beside them. */
function entryOf(file: unknown): FileEntry {
  const texts = Object.keys(fields).map((field) => [field, textOf(file, field)] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== undefined))
}

import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import { type CarriedFile, chooseFile } from '../../flows/carried-files.ts'
import { takeFile } from '../../flows/take-file.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { fileLocationHelp, openFiles } from '../files-access.ts'
import { type AccessOptions, addAccessOptions } from '../registry-access.ts'
import { renderTaken, type TakenFile, takenJson } from '../render/files.ts'
import { followReading } from '../render/reading-progress.ts'

interface GetOptions extends AccessOptions {
  to: string
  all?: boolean
  force?: boolean
}

const examples = `
NAME is the name of a file, or its repository below PATH (tools/oc); with :TAG behind it where there are several
versions. A file that is there already is left as it is. Every byte is proven before a file has its name.
Without this program: oras pull HOST/PATH/files/NAME:TAG, or tar and sha256sum (docs/files.md).

Examples:
  sallyport files get /media/usb rhcos-418.94.202501221327-0-vmware.x86_64.ova
  sallyport files get docker://registry.lab:8443/ocp openshift-client-linux.tar.gz:v4.18.9 --to /opt
  sallyport files get /media/usb --all --to ./files`

export function defineGet(command: Command, host: CommandHost): void {
  command
    .summary('take files out of an archive or a mirror')
    .description('Writes files that came over with the images to this disk.')
    .argument('<place>', fileLocationHelp)
    .argument('[name...]', 'which files')
    .option('--to <path>', 'a directory, or for one file the file to write', '.')
    .option('--all', 'every file that is there')
    .option('--force', 'replace other files that are in the way')
  addAccessOptions(command)
    .addHelpText('after', examples)
    .action(async (place: string, names: string[], options: GetOptions) => {
      const context = host.context()
      requireOneOf(names, options)
      const wanted = options.all ? {} : { wanted: names }
      const { files, problems, close } = await openFiles(place, { options, ...wanted }, context)
      try {
        for (const { message } of problems) context.log.warn(message)
        const chosen = options.all ? allOf(files, place) : names.map((name) => chooseFile(files, name))
        const taken = await takeAll(placesOf(chosen, options, context.cwd), options, context)
        context.stdout(context.json ? `${JSON.stringify(taken.map(takenJson))}\n` : renderTaken(taken))
        host.done(0)
      } finally {
        await close()
      }
    })
}

function requireOneOf(names: readonly string[], { all = false }: GetOptions): void {
  if (names.length > 0 === all) {
    const what = all ? 'Both names and --all are there' : 'No file is named'
    throw new KnownError('USAGE', what, { hint: 'Name the files that you want, or take all of them with --all.' })
  }
}

function allOf(files: readonly CarriedFile[], place: string): readonly CarriedFile[] {
  const here = files.filter(({ state }) => state === 'here')
  // Boot images of several releases are often the same file.
  const distinct = new Map(here.map((file) => [`${file.name} ${file.digest}`, file]))
  if (distinct.size > 0) return [...distinct.values()]
  throw new KnownError('FILE_ABSENT', `There is no file at ${place}`)
}

interface Place {
  readonly file: CarriedFile
  readonly path: string
}

/** @throws KnownError USAGE where two files would be written to one place */
function placesOf(files: readonly CarriedFile[], { to }: GetOptions, cwd: string): readonly Place[] {
  const path = resolve(cwd, to)
  const isDirectory = files.length > 1 || to.endsWith('/') || (existsSync(path) && statSync(path).isDirectory())
  const distinct = [...new Set(files)]
  const places = distinct.map((file) => ({ file, path: isDirectory ? join(path, file.name) : path }))
  const twice = places.find((one, index) => places.findIndex((other) => other.path === one.path) !== index)
  if (!twice) return places
  const { repository, tag } = twice.file
  throw new KnownError('USAGE', `Several files would be written to ${twice.path}, one of them ${repository}:${tag}`, {
    hint: 'Take them one by one, each with a --to of its own.',
  })
}

async function takeAll(
  places: readonly Place[],
  { force = false }: GetOptions,
  context: CliContext,
): Promise<readonly TakenFile[]> {
  const { signal } = context
  const total = places.reduce((sum, { file }) => sum + (file.size ?? 0), 0)
  const progress = followReading(context, total)
  const taken: TakenFile[] = []
  try {
    for (const { file, path } of places) {
      if (!file.content) continue
      const how = await takeFile(file.content, path, { force, signal, onBytes: progress.onBytes })
      taken.push({ file, path, how })
    }
  } finally {
    progress.stop()
  }
  return taken
}

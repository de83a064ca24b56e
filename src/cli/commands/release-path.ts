import { type Command, Option } from 'commander'
import { readRequestedGraph } from '../../release/graph-channels.ts'
import { findUpdatePath, type ReadGraph } from '../../release/graph-path.ts'
import { readPathShares } from '../../release/path-contents.ts'
import { readArchitecture } from '../architectures.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { graphsOnDisk, openGraphs, readGraphFiles } from '../graph-access.ts'
import { type AccessOptions, addAccessOptions, openRegistries } from '../registry-access.ts'
import { type PathView, pathDocument, renderPath } from '../render/release-path.ts'

interface PathOptions extends AccessOptions {
  from: string
  to: string
  channel?: string
  type: 'ocp' | 'okd'
  arch: string
  graph?: string[]
  graphData?: string
  workspace?: string
  size?: boolean
}

const details = `
The path has as few updates with a known risk as can be, and then as few updates as can be: what mirror takes with
minVersion, maxVersion and shortestPath. Without --channel it is looked for in stable, eus, fast and candidate, in this
order. Nothing but the update service is asked, UPDATE_URL_OVERRIDE or the public one; with --size also the registry.
Exit status: 0; 1 where there is no way, or something needed is out of reach.

Examples:
  sallyport release path --from 4.16.3 --to 4.18.9
  sallyport release path --from 4.16.3 --to 4.18.9 --channel eus-4.18 --arch arm64 --size
  sallyport release path --from 4.16.3 --to 4.18.9 --workspace /work
      without a network: from the answers that a mirror kept there
  curl -sH 'Accept: application/json' "https://api.openshift.com/api/upgrades_info/v1/graph?channel=stable-4.18" > stable.json
  sallyport release path --from 4.18.1 --to 4.18.9 --graph stable.json`

export function definePath(command: Command, host: CommandHost): void {
  const onDisk = ['graph', 'graphData', 'workspace']
  const except = (own: string) => onDisk.filter((name) => name !== own)
  command
    .summary('the updates from one release to another, their risks, and what they would carry')
    .description('Draws the updates that lead from one release to another, and their known risks.')
    .requiredOption('--from <version>', 'where the cluster is')
    .requiredOption('--to <version>', 'where it is to go')
    .option('--channel <channel>', 'only this channel, and its like of the minor versions between')
    .option('--arch <architecture>', 'amd64, arm64, ppc64le, s390x or multi', readArchitecture, 'amd64')
    .addOption(new Option('--type <type>', 'whose releases').choices(['ocp', 'okd']).default('ocp'))
    .addOption(
      new Option('--graph <file...>', 'answers of an update service, one file a channel').conflicts(except('graph')),
    )
    .addOption(
      new Option('--graph-data <dir>', 'a directory with answers: ARCHITECTURE-CHANNEL.json').conflicts(
        except('graphData'),
      ),
    )
    .addOption(
      new Option('--workspace <dir>', 'the answers that a mirror kept in this workspace').conflicts(
        except('workspace'),
      ),
    )
    .option('--size', 'what each release adds to the mirror: reads the manifests of every release on the path')
  addAccessOptions(command)
    .addHelpText('after', details)
    .action(async (options: PathOptions) => {
      const context = host.context()
      const view = await look(options, context)
      context.stdout(context.json ? `${JSON.stringify(pathDocument(view))}\n` : renderPath(view))
      const problems = view.shares?.releases.flatMap(({ version, problem }) =>
        problem ? [{ version, ...problem }] : [],
      )
      for (const { version, message, hint } of problems ?? [])
        context.stderr(`${version}: ${message}\n  next: ${hint}\n`)
      host.done(problems?.length ? 1 : 0)
    })
}

async function look(options: PathOptions, context: CliContext): Promise<PathView> {
  const { from, to, channel, type, arch: architecture } = options
  const { read, close } = await openReader(options, context)
  try {
    const found = await findUpdatePath({ type, from, to, channel }, read)
    const shares = options.size ? await sharesOf(found.path.releases, options, context) : undefined
    return { found, type, architecture, shares }
  } finally {
    close()
  }
}

async function openReader(options: PathOptions, context: CliContext): Promise<{ read: ReadGraph; close: () => void }> {
  if (options.graph !== undefined) {
    const graph = await readGraphFiles(options.graph, context.cwd)
    return { read: async () => graph, close: () => undefined }
  }
  const kept = graphsOnDisk(options, context.cwd)
  const { graphs, close } = kept ? { graphs: kept, close: () => undefined } : await openGraphs(options, context)
  const asked = { graphs, architecture: options.arch, signal: context.signal }
  return { read: (request) => readRequestedGraph(request, asked), close }
}

async function sharesOf(releases: PathView['found']['path']['releases'], options: PathOptions, context: CliContext) {
  const { source, close } = await openRegistries(options, context)
  try {
    const { signal, isTerminal, stderr } = context
    const tell = (line: string) => isTerminal && stderr(`${line}\n`)
    return await readPathShares(releases, { source, architecture: options.arch, signal, tell })
  } finally {
    close()
  }
}

/** Where commands get update graphs from: the service, or what was kept of it. */
import { readFile } from 'node:fs/promises'
import { compileGoRegExp } from '../config/go-regexp.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Env } from '../host/env.ts'
import { directoryAt, workspaceAt } from '../mirror/workspace.ts'
import { mergeGraphs, parseUpdateGraph, type UpdateGraph } from '../openshift/graph/update-graph.ts'
import { graphCacheDirectory, keptGraphs } from '../release/graph-cache.ts'
import { GraphClient } from '../release/graph-client.ts'
import type { GraphSource } from '../release/graph-source.ts'
import type { ConnectionOptions } from './connection-options.ts'
import type { CliContext } from './context.ts'
import type { SideOptions } from './side-access.ts'
import { openWeb } from './web-access.ts'

export interface OpenGraphs {
  readonly graphs: GraphSource
  readonly close: () => void
}

/**
 * The update service, at UPDATE_URL_OVERRIDE where it is set.
 *
 * @throws KnownError USAGE
 */
export async function openGraphs(options: ConnectionOptions & SideOptions, context: CliContext): Promise<OpenGraphs> {
  const web = await openWeb(options, context)
  return {
    graphs: new GraphClient({ web, override: context.env['UPDATE_URL_OVERRIDE'] }),
    close: () => web.close(),
  }
}

/** Answers that a mirror kept in its workspace, or that lie in a directory under the same names. */
export function graphsOnDisk(
  { workspace, graphData }: { readonly workspace?: string | undefined; readonly graphData?: string | undefined },
  cwd: string,
): GraphSource | undefined {
  if (graphData !== undefined) return keptGraphs(directoryAt(graphData, cwd))
  return workspace === undefined ? undefined : keptGraphs(graphCacheDirectory(workspaceAt(workspace, cwd).root))
}

/** @throws KnownError FILE_UNREADABLE, GRAPH_INVALID */
export async function readGraphFiles(files: readonly string[], cwd: string): Promise<UpdateGraph> {
  return mergeGraphs(await Promise.all(files.map((file) => readGraphFile(directoryAt(file, cwd)))))
}

async function readGraphFile(path: string): Promise<UpdateGraph> {
  try {
    return parseUpdateGraph(await readFile(path), path)
  } catch (cause) {
    if (cause instanceof KnownError) throw cause
    throw new KnownError('FILE_UNREADABLE', `${path}: this file cannot be read`, { details: { file: path }, cause })
  }
}

/**
 * VERSION_FILTER, a regular expression of Go; undefined where it is not set.
 *
 * @throws KnownError CONFIG_INVALID
 */
export function versionFilter(env: Env): RegExp | undefined {
  const pattern = env['VERSION_FILTER']
  return pattern ? compileGoRegExp(pattern) : undefined
}

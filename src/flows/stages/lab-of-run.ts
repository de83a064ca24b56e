/** The lab of a run: one for each, so that two runs of one site never meet. */
import { join } from 'node:path'
import type { SiteConfig } from '../../config/site-configuration.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { JsonRecord } from '../../journal/events.ts'
import type { Lab } from '../../provision/lab/lab-provider.ts'
import { remainsInLab, removeFromLab } from '../../provision/lab/lab-undo.ts'
import { openLab } from '../../provision/lab/open-lab.ts'
import type { UndoRecord } from '../../provision/provider.ts'
import { releaseSources } from '../../quickstart/sample-release.ts'
import type { UndoContext, UndoHandler } from '../../workflow/step.ts'
import type { StageParts } from './stage-parts.ts'

export interface LabOfRun {
  readonly site: SiteConfig
  readonly user: { readonly platform: string; readonly uid: number }
  readonly host: Parameters<typeof openLab>[0]
}

/** Opens the lab of a run, as it was made or as it would be. */
export function openLabOf(
  { site, user, host }: LabOfRun,
  { run, directories }: Pick<UndoContext, 'run' | 'directories'>,
): Promise<Lab> {
  const { lab } = site.platform
  const mirror = site.mirror?.registry.split('/')[0]?.replace(/:\d+$/, '')
  return openLab(host, {
    id: labIdOf(site.name, run),
    directory: join(directories.run, 'lab'),
    upstreamNames: [releaseSources.registry],
    ...(mirror !== undefined && { bastionNames: [mirror] }),
    nodes: lab?.nodes ?? 3,
    mode: lab?.network ?? 'auto',
    user,
  })
}

/** At most 32 characters, and another one for each run: its last four are chance. */
function labIdOf(site: string, run: string): string {
  const name = site
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 20)
    .replace(/-+$/, '')
  return `${name}-${run
    .slice(-4)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '0')}`
}

/** By kind, what it is called. */
const kinds: Readonly<Record<string, string>> = {
  'lab-namespace': 'network namespace',
  'lab-directory': 'directory',
  'lab-file': 'file',
  'lab-process': 'process',
}

export function labUndo({ clock, env }: Pick<StageParts, 'clock' | 'env'>): Readonly<Record<string, UndoHandler>> {
  return Object.fromEntries(Object.keys(kinds).map((kind) => [kind, undoOf(kind, { clock, env })]))
}

function undoOf(kind: string, host: Pick<StageParts, 'clock' | 'env'>): UndoHandler {
  const recordOf = (values: JsonRecord): UndoRecord => ({ ...(values as Record<string, string>), kind })
  return {
    describe: (values) => `${kinds[kind]} ${String(values['name'] ?? values['path'] ?? '')}`,
    async remove(values, context) {
      context.print(`${await removeFromLab(host, recordOf(values))}\n`)
      const remains = await remainsInLab(recordOf(values))
      if (remains.length > 0) throw new KnownError('STEP_FAILED', `Still there: ${remains.join(', ')}`)
    },
  }
}

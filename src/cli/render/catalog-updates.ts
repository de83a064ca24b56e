/** The way of an installed version, as `catalog explain --installed` tells it. */
import type { RequestExplanation, UpdateExplanation, UpdateWay } from '../../catalog/explain-request.ts'

interface UpdatesView extends Pick<RequestExplanation, 'updates'> {
  readonly installed: string | undefined
}

export function updateLines({ updates, installed }: UpdatesView): string[] {
  if (installed === undefined || updates.length === 0) return []
  return [`Updates of an installed ${installed}`, ...updates.flatMap((update) => lines(update, installed))]
}

function lines({ channel, way, keptWay }: UpdateExplanation, installed: string): string[] {
  const inCatalog = `  channel ${channel}: ${text(way, installed)}`
  if (!way.reachesHead) return [inCatalog]
  if (keptWay === undefined) return [`${inCatalog}; nothing of this channel is mirrored`]
  if (keptWay.reachesHead && isSame(way, keptWay)) return [`${inCatalog}; all of it is mirrored`]
  return [inCatalog, `    with what is mirrored: ${text(keptWay, installed)}`]
}

function text({ steps, reachesHead }: UpdateWay, installed: string): string {
  if (!reachesHead && steps.length === 0) return `no bundle takes the place of ${installed}`
  if (steps.length === 0) return 'it is the head already'
  const way = [installed, ...steps].join(' -> ')
  return reachesHead ? way : `${way}, and from there no further`
}

function isSame(one: UpdateWay, other: UpdateWay): boolean {
  return one.steps.join(' ') === other.steps.join(' ')
}

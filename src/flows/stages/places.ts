/** Where content lies, told so that it is found on the other side of the gap too, whose directories have other names. */
import { resolve } from 'node:path'
import type { StepDirectories } from '../../workflow/step.ts'
import type { StageParts } from './stage-parts.ts'

/**
 * The path of a place: `site:PATH` is relative to `sallyport.yaml`, `run:PATH` to the directory of the run, anything else is
 * a path of this machine.
 */
export function pathAt(
  { directory }: Pick<StageParts, 'directory'>,
  { directories }: { readonly directories: Pick<StepDirectories, 'run'> },
  place: string,
): string {
  const [, base, path = ''] = /^(site|run):(.*)$/s.exec(place) ?? []
  if (base === undefined) return place
  return resolve(base === 'site' ? directory : directories.run, path)
}

/**
 * The place of content that a stage makes: beside `sallyport.yaml`, where it outlives the run, for a cluster needs its mirror
 * longer than that; of a lab within the lab, with which it goes.
 */
export function contentPlace({ openLab }: Pick<StageParts, 'openLab'>, name: string): string {
  return openLab === undefined ? `site:${name}` : `run:lab/${name}`
}

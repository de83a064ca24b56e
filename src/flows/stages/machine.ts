/** The bastion: that of the lab, or the machine that the step runs on. */
import { createHash } from 'node:crypto'
import { type Machine, OwnMachine } from '../../provision/own-machine.ts'
import type { StepContext } from '../../workflow/step.ts'
import type { StageParts } from './stage-parts.ts'

export async function machineOf(
  parts: StageParts,
  context: Pick<StepContext, 'run' | 'directories'>,
): Promise<Machine> {
  const { openLab, site, directory, clock, env, user } = parts
  if (openLab === undefined) {
    const settings = { id: siteId(site.name, directory), runDirectory: context.directories.run, user }
    return new OwnMachine({ clock, env }, settings)
  }
  const lab = await openLab(context)
  const isServing = async (name: string) =>
    (await lab.status()).some((one) => one.kind === 'process' && one.name === name && one.isThere)
  return { placeFiles: lab.placeFiles.bind(lab), serve: lab.serve.bind(lab), isServing }
}

/** The same for every run of a site: a mirror outlives the run that began it. */
function siteId(name: string, directory: string): string {
  const slug = name.replaceAll(/[^a-z0-9]+/g, '-').slice(0, 20)
  return `${slug}-${createHash('sha256').update(directory).digest('hex').slice(0, 8)}`
}

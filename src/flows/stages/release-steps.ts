/** Stages 03 and 04 on the connected side: which release it is, the right to pull it, and its tools. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { shellQuote } from '../../host/shell-quote.ts'
import { parseReference, repositoryName } from '../../oci/reference.ts'
import { parseAuthFile } from '../../remote/auth-file-format.ts'
import { defineStep, type StepContext } from '../../workflow/step.ts'
import { ToolsMade } from './bastion-outputs.ts'
import { tellReaders } from './credential-steps.ts'
import { machineOf } from './machine.ts'
import { pathAt } from './places.ts'
import { type ReleaseAccess, withReleaseAccess } from './release-access.ts'
import { ReleaseKnown } from './release-outputs.ts'
import { makingOf, runSallyport, type StageParts } from './stage-parts.ts'

const ReleaseAsked = z.strictObject({
  image: z.string().optional(),
  version: z.string().optional(),
  channel: z.string().optional(),
  architecture: z.string(),
  pullSecret: z.string().optional(),
  imageSet: z.string().optional(),
  needsPullSecret: z.boolean(),
})
type ReleaseAsked = z.infer<typeof ReleaseAsked>

const aDay = 24 * 60 * 60_000

/** The release of `sallyport.yaml`, by its digest: from here on nobody who moves a tag changes what is installed. */
export function releaseStep(parts: StageParts) {
  return defineStep({
    title: 'the release: which it is, and the right to pull it',
    version: 1,
    where: 'connected',
    input: ReleaseAsked,
    output: ReleaseKnown,
    policy: { timeoutMs: 30 * 60_000, retry: { attempts: 3, firstDelayMs: 10_000 } },
    async apply(asked, context) {
      const { pullSecret, imageSet, needsPullSecret } = asked
      if (needsPullSecret && pullSecret === undefined) throw noPullSecret()
      if (pullSecret !== undefined) await checkPullSecret(parts, pullSecret, context)
      const found = await withReleaseAccess({ ...(pullSecret && { pullSecret }) }, context, async (access) => {
        const name = await nameOf(parts, context, { asked, access })
        const words = ['release', 'info', name, '--arch', asked.architecture, ...access.words]
        return Info.parse(await runSallyport(parts, context, { where: 'connected', words, env: access.env }))
      })
      const { name, digest, version } = found
      const release = `${repositoryName(parseReference(name))}@${digest}`
      context.print(`${release} is ${version}\n`)
      return { release, version, ...(pullSecret && { pullSecret }), ...(imageSet && { imageSet }) }
    },
  })
}

function noPullSecret(): KnownError {
  return new KnownError('CONFIG_INVALID', 'release.pullSecret is not said, and without a mirror every node needs it', {
    hint: 'Put the pull secret into a file, name that under secrets, and write its name as release.pullSecret.',
  })
}

const Info = z.object({ name: z.string(), digest: z.string(), version: z.string() })

async function checkPullSecret(parts: StageParts, name: string, context: StepContext): Promise<void> {
  await tellReaders(parts, name, context)
  const { entries } = parseAuthFile(await context.secret(name), `secrets.${name}`)
  if (entries.size > 0) return
  throw new KnownError('CONFIG_INVALID', `secrets.${name}: the pull secret has a login for no registry`)
}

interface Naming {
  readonly asked: ReleaseAsked
  readonly access: ReleaseAccess
}

/** A version alone has a name; what a channel has now only the update service knows. */
async function nameOf(parts: StageParts, context: StepContext, { asked, access }: Naming): Promise<string> {
  const { image, version, channel, architecture } = asked
  if (image !== undefined) return image
  if (channel === undefined) return version ?? ''
  const words = ['list', 'releases', '--channel', channel, '--filter-by-archs', architecture]
  const answer = await runSallyport(parts, context, { where: 'connected', words, env: access.env })
  const releases = Listed.parse(answer).architectures.flatMap((listed) => listed.releases)
  const found = version === undefined ? releases.at(-1) : releases.find((one) => one.version === version)
  if (found !== undefined) return found.payload
  throw new KnownError('CONFIG_INVALID', `${channel} has no release ${version ?? ''} for ${architecture}`, {
    hint: `sallyport list releases --channel ${channel} lists those that it has.`,
  })
}

const Listed = z.object({
  architectures: z.array(z.object({ releases: z.array(z.object({ version: z.string(), payload: z.string() })) })),
})

const toolNames = ['oc', 'openshift-install', 'ccoctl']

/** Where the tools go: in a lab onto the bastion; of a real site beside `sallyport.yaml`, to be carried by who wants them. */
export function toolsStep(parts: StageParts) {
  return defineStep({
    title: 'tools of the release, for the administrator',
    version: 1,
    where: 'connected',
    input: z.strictObject({ release: ReleaseKnown, directory: z.string() }),
    output: ToolsMade,
    expect: () => {
      const directory = parts.openLab === undefined ? 'site:tools' : 'run:lab/bastion/bin'
      return Promise.resolve({ files: toolNames.map((name) => `${directory}/${name}`) })
    },
    policy: { timeoutMs: aDay, retry: { attempts: 3, firstDelayMs: 10_000 } },
    async apply({ release, directory }, context) {
      const isLab = parts.openLab !== undefined
      const folder = isLab ? join(context.directories.state, 'tools') : pathAt(parts, context, directory)
      const tools = [...toolNames]
      await withReleaseAccess(release, context, async ({ words: access, env }) => {
        const wanted = tools.flatMap((name) => ['--command', name])
        const words = ['release', 'extract', release.release, ...wanted, '--to', folder, '--force', ...access]
        await runSallyport(parts, context, { where: 'connected', words, env })
      })
      if (!isLab) return { directory, tools }
      const extracted = tools.map(async (name) => {
        return { path: `bin/${name}`, content: await readFile(join(folder, name)), mode: 0o755 }
      })
      const wrapper = { path: 'bin/sallyport', content: selfScript(parts), mode: 0o755 }
      const files = [wrapper, ...(await Promise.all(extracted))]
      const [first = ''] = await (await machineOf(parts, context)).placeFiles(files, makingOf(context, 'bastion'))
      return { directory: join(first, '..'), tools: [...tools, 'sallyport'] }
    },
  })
}

function selfScript({ self }: StageParts): string {
  return `#!/bin/sh\nexec ${self.map(shellQuote).join(' ')} "$@"\n`
}

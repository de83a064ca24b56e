/** Stage 03: what is needed to read the release, and to push to the mirror; found missing now, not in the middle of the night. */
import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { createAccount } from '../../registry/account.ts'
import { parseAuthFile } from '../../remote/auth-file-format.ts'
import { isThere } from '../../store/presence.ts'
import { defineStep, type StepContext } from '../../workflow/step.ts'
import { CredentialsMade } from './bastion-outputs.ts'
import { NetworkMade } from './infrastructure-outputs.ts'
import { machineOf } from './machine.ts'
import { pathAt } from './places.ts'
import { reachedAt } from './registry-steps.ts'
import { makingOf, type StageParts } from './stage-parts.ts'

const mirrorUser = 'admin'

/** For an embedded mirror: an account, made where its registry will look for it. */
export function accountStep(parts: StageParts) {
  return defineStep({
    title: 'credentials for the mirror, onto the bastion',
    version: 1,
    where: 'bastion',
    input: z.strictObject({
      registry: z.string(),
      /** Place of the store of the registry. */
      root: z.string(),
      network: NetworkMade.optional(),
    }),
    output: CredentialsMade,
    secretOutput: ['password'],
    policy: { timeoutMs: 10 * 60_000 },
    async apply({ registry, root, network }, context) {
      const place = pathAt(parts, context, root)
      await createAccount(place, mirrorUser)
      const password = (await readFile(join(place, `${mirrorUser}.password`), 'utf8')).trim()
      context.hide(password)
      const auth = Buffer.from(`${mirrorUser}:${password}`).toString('base64')
      await tellSshKey(parts, context)
      const reached = reachedAt(registry, network)
      const auths = { [registry]: { auth }, ...(reached !== undefined && { [reached]: { auth } }) }
      const content = `${JSON.stringify({ auths })}\n`
      return { authFile: await placeAuthFile(parts, context, content), password }
    },
    holds: (_, output) => isThere(CredentialsMade.parse(output).authFile),
  })
}

/** For a mirror that is there: the credentials that `sallyport.yaml` names. */
export function givenCredentialsStep(parts: StageParts) {
  return defineStep({
    title: 'credentials for the mirror, onto the bastion',
    version: 1,
    where: 'bastion',
    input: z.strictObject({
      registry: z.string(),
      credentials: z.strictObject({ secret: z.string() }).optional(),
    }),
    output: CredentialsMade,
    policy: { timeoutMs: 10 * 60_000 },
    async apply({ registry, credentials }, context) {
      await tellSshKey(parts, context)
      if (credentials === undefined) {
        context.print('mirror.credentials is not said: the mirror is asked without a login\n')
        return { authFile: await placeAuthFile(parts, context, '{"auths":{}}\n') }
      }
      const { secret } = credentials
      await tellReaders(parts, secret, context)
      const text = await context.secret(secret)
      const { entries } = parseAuthFile(text, `secrets.${secret}`)
      if (![...entries.keys()].some((key) => key === registry || key.startsWith(`${registry}/`))) {
        const known = [...entries.keys()].join(', ')
        throw new KnownError(
          'CONFIG_INVALID',
          `secrets.${secret}: no login for ${registry}, only for ${known || 'nothing'}`,
          {
            hint: `podman login --authfile FILE ${registry} writes one, by exactly this name and port.`,
          },
        )
      }
      return { authFile: await placeAuthFile(parts, context, `${text}\n`) }
    },
    holds: (_, output) => isThere(CredentialsMade.parse(output).authFile),
  })
}

async function placeAuthFile(parts: StageParts, context: StepContext, content: string): Promise<string> {
  const machine = await machineOf(parts, context)
  const [authFile = ''] = await machine.placeFiles(
    [{ path: 'pull-secret.json', content }],
    makingOf(context, 'bastion'),
  )
  return authFile
}

/** Whoever else can read a secret on this machine is told of: ssh and podman say nothing, or refuse without a reason. */
export async function tellReaders({ site, directory }: StageParts, name: string, context: StepContext): Promise<void> {
  const { file } = site.secrets[name] ?? {}
  if (file === undefined) return
  const path = resolve(directory, file)
  const { mode } = await stat(path).catch(() => ({ mode: 0 }))
  if ((mode & 0o077) === 0) return
  context.print(`warning: secrets.${name}: others on this machine can read ${path}; chmod 600 ${path}\n`)
}

/** What stands there goes to every node; whether it is a key is checked with install-config. */
async function tellSshKey({ site, directory }: StageParts, context: StepContext): Promise<void> {
  const file = site.cluster?.sshPublicKey
  if (file === undefined) {
    if (site.variant === 'registry-only') return
    context.print('warning: cluster.sshPublicKey is not said: nobody will be able to log in to a node that fails\n')
    return
  }
  const text = await readFile(resolve(directory, file), 'utf8').catch((cause: unknown) => {
    throw new KnownError('FILE_UNREADABLE', `cluster.sshPublicKey: ${file} cannot be read`, {
      cause,
      details: { file },
    })
  })
  if (!text.includes('PRIVATE KEY')) return
  throw new KnownError(
    'CONFIG_INVALID',
    `cluster.sshPublicKey: ${file} is a private key, and the public one is wanted`,
    {
      hint: `Name ${file}.pub.`,
    },
  )
}

/** Stages 02 to 05: the host on both networks, what is put on it, and the mirror registry that it serves. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { secretBytes } from '../../host/random.ts'
import { createAccount } from '../../registry/account.ts'
import { selfSignedCertificate } from '../../registry/certificate.ts'
import { defineStep } from '../../workflow/step.ts'
import { CredentialsMade, HostMade, MirrorMade, ToolsMade } from './bastion-outputs.ts'
import { NetworkMade, UpstreamMade } from './infrastructure-outputs.ts'
import { isServing, trustOf } from './infrastructure-steps.ts'
import { labOf, makingOf, runSallyport, type StageParts, splitHost } from './stage-parts.ts'

const proxyPort = 3128
const proxyUser = 'cluster'
const mirrorUser = 'admin'

/** Stage 02. Without squid there is no proxy, and who does not need one goes on. */
export function hostStep(parts: StageParts) {
  return defineStep({
    title: 'the host on both networks, with a proxy',
    version: 1,
    input: z.strictObject({ network: NetworkMade, needsProxy: z.boolean() }),
    output: HostMade,
    secretOutput: ['password'],
    policy: { timeoutMs: 30 * 60_000 },
    async apply({ needsProxy }, context) {
      const lab = await labOf(parts, context)
      if (lab.settings.squid === undefined && !needsProxy) {
        const why = 'squid is not installed (package squid), and nothing here needs a proxy'
        context.print(`${why}\n`)
        return { why }
      }
      const password = secretBytes(20).toString('base64url')
      context.hide(password)
      const options = { proxy: { port: proxyPort, username: proxyUser, password } }
      const { proxy } = await lab.makeBastion(options, makingOf(context, 'bastion'))
      const { closed: proxyUrl } = proxy?.urls ?? {}
      if (proxy === undefined || proxyUrl === undefined) throw new KnownError('STEP_FAILED', 'The proxy has no address')
      return { proxyUrl, username: proxyUser, password, accessLog: proxy.accessLog }
    },
    async holds(_, output, context) {
      const made = HostMade.parse(output)
      return made.proxyUrl === undefined || isServing(await labOf(parts, context), 'squid')
    },
  })
}

/** Stage 03: who may push to the mirror, and pull from it. */
export function credentialsStep(parts: StageParts) {
  return defineStep({
    title: 'credentials for the mirror, onto the bastion',
    version: 1,
    input: z.strictObject({ network: NetworkMade, registry: z.string(), sshPublicKey: z.string().optional() }),
    output: CredentialsMade,
    secretOutput: ['password'],
    policy: { timeoutMs: 10 * 60_000 },
    async apply({ registry, sshPublicKey }, context) {
      const lab = await labOf(parts, context)
      const registryRoot = join(lab.settings.directory, 'mirror')
      await createAccount(registryRoot, mirrorUser)
      const password = (await readFile(join(registryRoot, `${mirrorUser}.password`), 'utf8')).trim()
      context.hide(password)
      const auth = Buffer.from(`${mirrorUser}:${password}`).toString('base64')
      const content = `${JSON.stringify({ auths: { [registry]: { auth } } })}\n`
      const key = sshPublicKey === undefined ? [] : [{ path: '.ssh/authorized_keys', content: sshPublicKey }]
      const files = [{ path: 'pull-secret.json', content }, ...key]
      const [authFile = ''] = await lab.placeFiles(files, makingOf(context, 'bastion'))
      return { registryRoot, username: mirrorUser, password, authFile }
    },
  })
}

/** Stage 04: the tools of the release, and Sallyport itself. */
export function toolsStep(parts: StageParts) {
  return defineStep({
    title: 'tools of the release, onto the bastion',
    version: 1,
    where: 'connected',
    input: z.strictObject({ upstream: UpstreamMade }),
    output: ToolsMade,
    policy: { timeoutMs: 60 * 60_000, retry: { attempts: 3, firstDelayMs: 10_000 } },
    async apply({ upstream }, context) {
      const lab = await labOf(parts, context)
      const folder = join(context.directories.state, 'tools')
      const tools = ['oc', 'openshift-install', 'ccoctl']
      const from = ['--ca', upstream.ca, '--registries-conf', upstream.registriesConf]
      const wanted = tools.flatMap((name) => ['--command', name])
      const words = ['release', 'extract', upstream.release, ...wanted, '--to', folder, '--force', ...from]
      await runSallyport(parts, context, { where: 'connected', words, env: trustOf(upstream) })
      const extracted = await Promise.all(
        tools.map(async (name) => ({ path: `bin/${name}`, content: await readFile(join(folder, name)), mode: 0o755 })),
      )
      const wrapper = { path: 'bin/sallyport', content: selfScript(parts), mode: 0o755 }
      const [first = ''] = await lab.placeFiles([wrapper, ...extracted], makingOf(context, 'bastion'))
      return { directory: join(first, '..'), tools: [...tools, 'sallyport'] }
    },
  })
}

function selfScript({ self }: StageParts): string {
  return `#!/bin/sh\nexec ${self.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')} "$@"\n`
}

/** Stage 05: with TLS by a CA of its own, and a password. */
export function mirrorRegistryStep(parts: StageParts) {
  return defineStep({
    title: 'the mirror registry, with TLS and a password',
    version: 1,
    where: 'bastion',
    input: z.strictObject({
      network: NetworkMade,
      credentials: CredentialsMade,
      registry: z.string(),
      path: z.string(),
    }),
    output: MirrorMade,
    policy: { timeoutMs: 10 * 60_000 },
    async apply({ network, credentials, registry, path }, context) {
      const root = credentials.registryRoot
      const { host, port } = splitHost(registry)
      const hosts = [...new Set([host, ...network.addresses.bastion])]
      const tls = await selfSignedCertificate({ root, hosts, clock: parts.clock })
      const listen = `${network.mode === 'namespaces' ? '0.0.0.0' : host}:${port}`
      const names = hosts.flatMap((name) => ['--san', name])
      const words = ['registry', 'serve', '--root', root, '--listen', listen, '--self-signed', ...names]
      const lab = await labOf(parts, context)
      const server = {
        site: 'bastion',
        name: 'mirror',
        argv: [...parts.self, ...words],
        env: {},
        ports: [port],
      } as const
      await lab.serve(server, makingOf(context, 'bastion'))
      return { registry, target: path === '' ? registry : `${registry}/${path}`, ca: tls.caFile }
    },
    holds: async (_, __, context) => isServing(await labOf(parts, context), 'mirror'),
  })
}

/** Stage 02 of a lab: the host on both networks. Without squid there is no proxy, and who does not need one goes on. */
import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { secretBytes } from '../../host/random.ts'
import { defineStep } from '../../workflow/step.ts'
import { HostMade } from './bastion-outputs.ts'
import { NetworkMade } from './infrastructure-outputs.ts'
import { machineOf } from './machine.ts'
import { labOf, makingOf, type StageParts } from './stage-parts.ts'

const proxyPort = 3128
const proxyUser = 'cluster'

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
      return made.proxyUrl === undefined || (await machineOf(parts, context)).isServing('squid')
    },
  })
}

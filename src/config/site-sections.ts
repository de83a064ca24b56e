/** The sections of `sallyport.yaml`. */
import * as z from 'zod'
import { ReleaseArchitecture } from './image-set-values.ts'
import { stageNames } from './site-stages.ts'
import { siteValues } from './site-values.ts'

const { file, secretName } = siteValues

const Release = z
  .strictObject({
    version: siteValues.version
      .optional()
      .meta({ description: 'For example 4.18.9. Default: the newest of the channel.' }),
    channel: z
      .string()
      .regex(/^(?:stable|fast|candidate|eus|okd)-[\w.]+$/, {
        error: ({ input }) => `"${input}" is no channel of the update graph, such as stable-4.18`,
      })
      .optional()
      .meta({ description: 'Channel of the update graph. Default: stable, of the version.' }),
    image: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'The release image itself, instead of version and channel.' }),
    architecture: ReleaseArchitecture.default('amd64').meta({ description: 'Of the nodes. Default: amd64.' }),
    pullSecret: secretName.optional().meta({
      description:
        'Name of the secret with the pull secret (JSON), for the side that reaches the registries of the release.',
    }),
  })
  .meta({ description: 'Which release is installed: version, channel, or image.' })

const Mirror = z
  .strictObject({
    registry: siteValues.registry.meta({ description: 'Place of the mirror as the nodes name it: host:port/path.' }),
    service: z.enum(['embedded', 'existing']).default('embedded').meta({
      description: 'embedded: Sallyport serves it on the bastion; existing: it is there already. Default: embedded.',
    }),
    imageSet: file.default('imageset-config.yaml').meta({
      description: 'ImageSetConfiguration that says what is mirrored. Default: imageset-config.yaml.',
    }),
    credentials: secretName.optional().meta({
      description:
        'Name of the secret with the auth file (JSON, as podman login writes it). Default: of embedded, made in stage 05.',
    }),
    ca: file.optional().meta({
      description: 'PEM file of the authority that its certificate is from. Default: of embedded, made in stage 05.',
    }),
  })
  .meta({ description: 'The mirror registry.' })

const Bastion = z
  .strictObject({
    address: siteValues.address.meta({ description: 'Host name or address.' }),
    user: z
      .string()
      .regex(/^[a-z_][a-z0-9_-]{0,31}$/, { error: 'the name of a user is wanted' })
      .default('core')
      .meta({
        description: 'Who logs in by ssh. Default: core.',
      }),
    sshKey: secretName
      .optional()
      .meta({ description: 'Name of the secret with the private key. Default: the ssh agent.' }),
    keep: z.boolean().default(true).meta({ description: 'Whether it stays after the installation. Default: true.' }),
  })
  .meta({ description: 'The host on both networks.' })

const ProxySection = z
  .strictObject({
    url: z
      .url({
        protocol: /^https?$/,
        error: 'a URL is wanted, http://HOST:PORT; user and password stand under credentials',
      })
      .meta({ description: 'http://HOST:PORT, for http and https; without user and password.' }),
    credentials: secretName.optional().meta({ description: 'Name of the secret with USER:PASSWORD, one line.' }),
    noProxy: z
      .array(z.string().regex(/^\S+$/, { error: 'one host, domain or network an entry, without spaces' }))
      .default([])
      .meta({ description: 'What is reached directly, beside what the installer adds, and the mirror.' }),
  })
  .meta({ description: 'The way out through a proxy.' })

const networkEntry = z.strictObject({ cidr: siteValues.network.meta({ description: 'For example 10.0.0.0/16.' }) })

const Networking = z
  .strictObject({
    machineNetwork: z
      .array(networkEntry)
      .min(1, { error: 'name at least one network' })
      .default([{ cidr: '10.0.0.0/16' }])
      .meta({
        description: 'Networks of the machines. Default: 10.0.0.0/16.',
      }),
    clusterNetwork: z
      .array(
        z.strictObject({
          cidr: siteValues.network.meta({ description: 'For example 10.128.0.0/14.' }),
          hostPrefix: z
            .number()
            .int()
            .default(23)
            .meta({ description: 'Length of the part that a node gets. Default: 23.' }),
        }),
      )
      .min(1, { error: 'name at least one network' })
      .default([{ cidr: '10.128.0.0/14', hostPrefix: 23 }])
      .meta({ description: 'Networks of the pods. Default: 10.128.0.0/14.' }),
    serviceNetwork: z
      .array(siteValues.network)
      .min(1, { error: 'name at least one network' })
      .default(['172.30.0.0/16'])
      .meta({
        description: 'Networks of the services. Default: 172.30.0.0/16.',
      }),
  })
  .meta({ description: 'Networks, as in install-config.' })

const replicas = z.number().int({ error: 'a whole number of machines is wanted' })

const Cluster = z
  .strictObject({
    controlPlaneReplicas: replicas
      .refine((count) => [1, 3, 4, 5].includes(count), { error: 'a control plane has 1, 3, 4 or 5 machines' })
      .default(3)
      .meta({ description: 'Machines of the control plane: 3; 1 for a single node. Default: 3.' }),
    computeReplicas: replicas
      .min(0, { error: 'none, or more' })
      .default(2)
      .meta({ description: 'Workers. Default: 2.' }),
    networking: Networking.prefault({}),
    sshPublicKey: file.optional().meta({ description: 'File with the public key that may log in to nodes as core.' }),
    fips: z.boolean().default(false).meta({ description: 'FIPS mode. Default: false.' }),
    capabilities: z
      .strictObject({
        baselineCapabilitySet: z
          .string()
          .regex(/^(?:None|vCurrent|v4\.\d+)$/, { error: 'None, vCurrent, or a minor version such as v4.18 is wanted' })
          .default('vCurrent')
          .meta({ description: 'None, vCurrent, v4.18, … Default: vCurrent.' }),
        additionalEnabledCapabilities: z.array(z.string()).default([]).meta({ description: 'On top of the baseline.' }),
      })
      .optional()
      .meta({ description: 'Optional parts of the cluster, as in install-config.' }),
    additionalTrustBundle: file.optional().meta({
      description: 'PEM file of authorities that the cluster trusts, beside the one of the mirror.',
    }),
  })
  .meta({ description: 'The cluster.' })

const Secret = z
  .strictObject({
    file: file.optional().meta({ description: 'File that holds it, readable by you alone (0600).' }),
    env: siteValues.variable.optional().meta({ description: 'Environment variable that holds it.' }),
  })
  .refine(({ file: path, env }) => (path === undefined) !== (env === undefined), { error: 'write either file or env' })

const Stage = z.strictObject({
  skip: z
    .string()
    .min(1, { error: 'say why it is skipped: the reason stands in the journal' })
    .optional()
    .meta({ description: 'Leaves the stage out, and says why.' }),
  timeout: siteValues.duration.optional().meta({ description: 'When it is given up, with its unit: 45m, 1h30m.' }),
  retries: z
    .number()
    .int({ error: 'a whole number is wanted' })
    .min(0, { error: '0 or more' })
    .max(20, { error: 'at most 20' })
    .optional()
    .meta({ description: 'How often it is tried again where that can help.' }),
})

const stageFields = Object.fromEntries(
  stageNames.map((name) => [name, Stage.optional().meta({ description: `What differs for the stage ${name}.` })]),
) as Record<(typeof stageNames)[number], z.ZodOptional<typeof Stage>>

export const siteSections = {
  release: Release,
  mirror: Mirror,
  bastion: Bastion,
  proxy: ProxySection,
  cluster: Cluster,
  secrets: z.record(z.string(), Secret).default({}).meta({
    description: 'Where each secret is: NAME: {file: PATH} or {env: VARIABLE}. No secret stands in this file.',
  }),
  stages: z.strictObject(stageFields).default({}).meta({ description: 'What differs from the usual, by stage.' }),
}

/**
 * Where a cluster runs. Fields are named as install-config names them, and only those that a disconnected site decides: what else
 * the installer takes has its defaults.
 *
 * Source: openshift/installer `pkg/types/{aws,vsphere,nutanix,baremetal,none}/platform.go`.
 */
import * as z from 'zod'
import { siteValues } from './site-values.ts'

const vips = {
  apiVIPs: z.array(siteValues.address).optional().meta({ description: 'Addresses of the API, one a family.' }),
  ingressVIPs: z.array(siteValues.address).optional().meta({ description: 'Addresses of *.apps, one a family.' }),
}

const Lab = z
  .strictObject({
    network: z.enum(['auto', 'namespaces', 'loopback']).default('auto').meta({
      description:
        'How outside, bastion and closed side are kept apart: network namespaces (root), loopback (proves less), or what this machine has.',
    }),
    upstream: siteValues.registry.optional().meta({
      description: 'Registry that plays the outside, host:port/path. Default: the demonstration release, made here.',
    }),
    nodes: z
      .number()
      .int({ error: 'a whole number of nodes is wanted' })
      .min(1, { error: 'at least one node is wanted' })
      .max(16, { error: 'a lab has at most 16 nodes' })
      .default(3)
      .meta({ description: 'How many nodes pull images in the closed network. Default: 3.' }),
  })
  .meta({ description: 'One Linux machine that plays all sides. Nothing is installed; everything else is real.' })

const Aws = z
  .strictObject({
    region: z.string().min(1, { error: 'region must be specified' }).meta({ description: 'For example us-east-1.' }),
    credentials: siteValues.secretName
      .optional()
      .meta({ description: 'Name of the secret with the AWS credentials file.' }),
    subnets: z
      .array(
        z.string().regex(/^subnet-[0-9A-Za-z]+$/, {
          error: ({ input }) => `"${input}" is no id of a subnet, such as subnet-0123456789abcdef0`,
        }),
      )
      .optional()
      .meta({ description: 'An existing VPC, by its private subnets, one a zone. Default: made in stage 01.' }),
    hostedZone: z
      .string()
      .optional()
      .meta({ description: 'Id of an existing private zone of Route 53; needs subnets.' }),
    amiID: z.string().optional().meta({ description: 'Boot image, where the region has none.' }),
    serviceEndpoints: z
      .array(
        z.strictObject({
          name: z.string().meta({ description: 'For example ec2.' }),
          url: z.url({ protocol: /^https$/, error: 'a URL that begins with https:// is wanted' }).meta({
            description: 'Endpoint within the VPC, https, without a path.',
          }),
        }),
      )
      .optional()
      .meta({ description: 'Endpoints of AWS services that replace the public ones.' }),
    userTags: z.record(z.string(), z.string()).optional().meta({ description: 'Tags of everything that is made.' }),
  })
  .meta({ description: 'Amazon Web Services.' })

const Vsphere = z
  .strictObject({
    vcenters: z
      .array(
        z.strictObject({
          server: siteValues.address.meta({ description: 'Host name of the vCenter.' }),
          port: z.number().int().optional().meta({ description: 'Default: 443.' }),
          datacenters: z.array(z.string()).min(1, { error: 'name at least one' }).meta({ description: 'Their names.' }),
          credentials: siteValues.secretName.meta({ description: 'Name of the secret with USER:PASSWORD, one line.' }),
        }),
      )
      .min(1, { error: 'name at least one vCenter' })
      .meta({ description: 'One to three.' }),
    failureDomains: z
      .array(
        z.strictObject({
          name: z.string().meta({ description: 'Name of the failure domain.' }),
          region: z.string().meta({ description: 'Tag of the region.' }),
          zone: z.string().meta({ description: 'Tag of the zone.' }),
          server: siteValues.address.meta({ description: 'One of the vCenters.' }),
          topology: z
            .strictObject({
              datacenter: z.string().meta({ description: 'Name of the data centre.' }),
              computeCluster: z.string().meta({ description: 'Full path: /DATACENTER/host/CLUSTER.' }),
              datastore: z.string().meta({ description: 'Full path: /DATACENTER/datastore/NAME.' }),
              networks: z
                .array(z.string())
                .min(1, { error: 'name at least one' })
                .meta({ description: 'Port groups.' }),
              resourcePool: z.string().optional().meta({ description: 'Full path of the resource pool.' }),
              folder: z.string().optional().meta({ description: 'Full path: /DATACENTER/vm/FOLDER.' }),
              template: z.string().optional().meta({ description: 'A boot image that is there already, full path.' }),
            })
            .meta({ description: 'Where in the vCenter.' }),
        }),
      )
      .min(1, { error: 'name at least one failure domain' })
      .meta({ description: 'Where machines are made.' }),
    ...vips,
    clusterOSImage: z.string().optional().meta({
      description:
        'URL of the boot image (OVA) on a server of the closed side, with ?sha256=; not together with a template.',
    }),
  })
  .meta({ description: 'VMware vSphere.' })

const Nutanix = z
  .strictObject({
    prismCentral: z
      .strictObject({
        address: siteValues.address.meta({ description: 'Host name or address.' }),
        port: z.number().int().default(9440).meta({ description: 'Default: 9440.' }),
        credentials: siteValues.secretName.meta({ description: 'Name of the secret with USER:PASSWORD, one line.' }),
      })
      .meta({ description: 'Prism Central.' }),
    prismElements: z
      .array(
        z.strictObject({
          uuid: z.string().meta({ description: 'Its UUID.' }),
          address: siteValues.address.meta({ description: 'Host name or address.' }),
          port: z.number().int().default(9440).meta({ description: 'Default: 9440.' }),
          name: z.string().optional().meta({ description: 'Its name.' }),
        }),
      )
      .length(1, { error: 'exactly one Prism Element is wanted' })
      .meta({ description: 'The Prism Element, one.' }),
    subnetUUIDs: z
      .array(z.string())
      .length(1, { error: 'exactly one subnet is wanted' })
      .meta({ description: 'The subnet, one.' }),
    ...vips,
    clusterOSImage: z
      .string()
      .optional()
      .meta({ description: 'URL of the boot image that Prism Central itself downloads.' }),
    preloadedOSImageName: z.string().optional().meta({ description: 'A boot image that is there already, by name.' }),
  })
  .meta({ description: 'Nutanix AHV.' })

const Baremetal = z
  .strictObject({ ...vips })
  .meta({ description: 'Machines of your own, with addresses that the nodes hold themselves.' })

const None = z
  .strictObject({})
  .meta({ description: 'Machines, load balancer and DNS are yours; nothing of them is made here.' })

/** One of them is named; that it is one is a rule between fields. */
export const SitePlatform = z
  .strictObject({
    lab: Lab.optional(),
    aws: Aws.optional(),
    vsphere: Vsphere.optional(),
    nutanix: Nutanix.optional(),
    baremetal: Baremetal.optional(),
    none: None.optional(),
  })
  .meta({ description: 'Where it runs: one of lab, aws, vsphere, nutanix, baremetal, none.' })
export type SitePlatform = z.infer<typeof SitePlatform>

export const platformNames = ['lab', 'aws', 'vsphere', 'nutanix', 'baremetal', 'none'] as const
export type PlatformName = (typeof platformNames)[number]

/** The platform that a site names. */
export function platformOf({ platform }: { readonly platform: SitePlatform }): PlatformName {
  return platformNames.find((name) => platform[name] !== undefined) ?? 'none'
}

/** What somebody gives to a workflow of a step registry who runs it on this machine. Plain data: it is kept with the run. */

export interface ContainerOptions {
  /** podman, or its path. */
  readonly program: string
  /** Environment of podman itself: its PATH, HOME, CONTAINERS_CONF, …; containers get nothing of it. */
  readonly env: Readonly<Record<string, string>>
  /** By what steps name in `from` (`cli`), or `NAMESPACE/NAME:TAG` of `from_image`. */
  readonly images: Readonly<Record<string, string>>
  /** For every step whose image is not in `images`. */
  readonly image?: string
}

export interface RegistryRunOptions {
  /** Where steps find programs. Nothing else of the environment of this machine reaches them. */
  readonly path: string
  /** Pull specifications, by the variable of a step or by the name that it depends on: `OO_BUNDLE`, `release:latest`. */
  readonly dependencies?: Readonly<Record<string, string>>
  /** What is leased, by its variable: `LEASED_RESOURCE` to `us-east-2`; more than one name is separated by spaces. */
  readonly leases?: Readonly<Record<string, string>>
  /** Pull specifications of releases: `latest`, `initial`, … */
  readonly releaseImages?: Readonly<Record<string, string>>
  /** The files of the cluster profile. They stay where they are. Where the workflow names none, it is called as its directory. */
  readonly clusterProfileDir?: string
  /** aws, gcp, …; default: what the registry says of the profile. */
  readonly clusterType?: string
  /** Directories of credentials, by `NAME` or `NAMESPACE/NAME`. */
  readonly credentials?: Readonly<Record<string, string>>
  /** Steps are run although what they mount is not there. */
  readonly allowMissingCredentials?: boolean
  /** The directory of `oc`, for steps that say `cli`. */
  readonly cliDir?: string
  /** Default: of the form that ci-operator gives, and another for each run. */
  readonly namespace?: string
  /** Default: the name of the workflow. */
  readonly jobName?: string
  /** http_proxy and its like, where steps are to have them. */
  readonly proxy?: Readonly<Record<string, string>>
  /** Steps run in containers of their images. Default: as processes of this machine. */
  readonly container?: ContainerOptions
}

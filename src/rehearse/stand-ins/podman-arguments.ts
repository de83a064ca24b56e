/** The command line of `podman run` and its like, as far as the scripts of bootstrap hosts use it (podman-run(1)). */

export interface ContainerRun {
  readonly image: string
  /** What runs in the container: the entry point, where one is named, and the words after the image. */
  readonly command: readonly string[]
  readonly name?: string
  /** Where the host's folders are in the container. */
  readonly volumes: readonly { readonly host: string; readonly container: string }[]
}

/** Options whose value is the next word, unless it follows a `=`. */
const withValue = new Set(
  `-a --attach --authfile --cap-add --cap-drop --cgroups --cgroupns --conmon-pidfile --cidfile --dns --device -e --env --entrypoint
   --env-file --group-add -h --hostname --ip --ipc -l --label --log-driver --log-opt -m --memory --mount --name --net --network
   --pid --platform -p --publish --pull --restart --runtime --security-opt --stop-timeout --tmpfs -u --user --ulimit --userns
   --uts -v --volume --volumes-from -w --workdir --arch --os --cert-dir --creds --format -f --filter`.split(/\s+/),
)

interface SplitWords {
  /** By name without dashes at the front, in order. */
  readonly options: readonly (readonly [name: string, value: string])[]
  readonly words: readonly string[]
}

/** Options up to the first word that is none. */
export function splitOptions(args: readonly string[]): SplitWords {
  const options: (readonly [string, string])[] = []
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? ''
    if (!word.startsWith('-') || word === '-') return { options, words: args.slice(index) }
    const [name = '', ...value] = word.split('=')
    if (value.length > 0) options.push([name, value.join('=')])
    else if (withValue.has(name)) {
      options.push([name, args[index + 1] ?? ''])
      index += 1
    } else options.push([name, ''])
  }
  return { options, words: [] }
}

/** Undefined where no image is named. */
export function parseContainerRun(args: readonly string[]): ContainerRun | undefined {
  const { options, words } = splitOptions(args)
  const [image, ...after] = words
  if (image === undefined) return undefined
  const optionOf = (...names: string[]) => options.findLast(([name]) => names.includes(name))?.[1]
  const entrypoint = optionOf('--entrypoint')
  const name = optionOf('--name')
  const volumes = options
    .filter(([option]) => option === '-v' || option === '--volume')
    .map(([, value]) => {
      const [host = '', container = ''] = value.split(':')
      return { host, container }
    })
  return {
    image,
    command: entrypoint ? [...entrypoint.split(' '), ...after] : after,
    ...(name !== undefined && { name }),
    volumes,
  }
}

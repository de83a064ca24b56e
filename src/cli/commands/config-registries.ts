/** `config registries`: what the machine config operator makes of mirror sets and image configuration. */
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { parseReference } from '../../oci/reference.ts'
import { manifestsOf } from '../../openshift/bootstrap/manifests.ts'
import { registriesOf } from '../../openshift/bootstrap/node-registries.ts'
import { renderRegistriesConf } from '../../registries/render.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext, ExitStatus } from '../context.ts'
import { renderFindings } from '../render/findings.ts'

interface Options {
  release?: string
  nodes?: string
}

const details = `
Read are ImageDigestMirrorSets, ImageTagMirrorSets, ImageContentSourcePolicies and the Image configuration named cluster; everything else
in the files is passed over. What the operator would refuse is said in its words: it then writes none of the mirrors.
Exit status: 0; 1 where the operator refuses.

Examples:
  sallyport config registries /srv/mirror/working-dir/cluster-resources > node.conf
  sallyport config registries idms.yaml image.yaml --release quay.io/openshift-release-dev/ocp-release@sha256:…
  oc get idms,itms,images.config.openshift.io -o yaml > now.yaml && sallyport config registries now.yaml`

export function defineRegistries(command: Command, host: CommandHost): void {
  command
    .summary('print the registries.conf that nodes get out of cluster resources')
    .argument('<resources...>', 'files, or directories with .yaml, .yml and .json files')
    .option('--release <image>', 'the release image, by digest: its registry may be blocked only where a mirror has it')
    .addOption(new Option('--nodes <version>', 'the version of the nodes, 4.12 or 4.13 and later').default('4.13'))
    .addHelpText('after', details)
    .action(async (paths: string[], options: Options) => {
      host.done(await print(paths, options, host.context()))
    })
}

async function print(paths: readonly string[], options: Options, context: CliContext): Promise<ExitStatus> {
  const files = (await Promise.all(paths.map((path) => filesAt(resolve(context.cwd, path))))).flat()
  const texts = await Promise.all(files.map(async (path) => ({ path, text: await readTextFile(path) })))
  const { conf, findings, manifests } = registriesOf(texts.flatMap(manifestsOf), {
    isOld: isBefore413(options.nodes ?? ''),
    ...(options.release !== undefined && { releaseImage: parseReference(options.release) }),
  })
  const text = conf && renderRegistriesConf(conf)
  const resources = manifests.map(({ kind, name, path, line }) => ({ kind, name, file: path, line }))
  if (context.json) context.stdout(`${JSON.stringify({ registriesConf: text, resources, findings })}\n`)
  else {
    context.stderr(renderFindings(findings))
    context.stdout(text ?? '')
  }
  return conf === undefined || findings.some(({ severity }) => severity === 'error') ? 1 : 0
}

/** @throws KnownError FILE_UNREADABLE */
async function filesAt(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const names = await readdir(path)
    return names
      .filter((name) => /\.(?:ya?ml|json)$/.test(name))
      .sort()
      .map((name) => join(path, name))
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'EACCES', 'ENOTDIR')) throw cause
    throw new KnownError('FILE_UNREADABLE', `${path} cannot be read`, { details: { file: path }, cause })
  }
}

/** @throws KnownError USAGE */
function isBefore413(version: string): boolean {
  const [, minor] = /^4\.(\d+)(?:\..*)?$/.exec(version) ?? []
  if (minor === undefined)
    throw new KnownError('USAGE', `--nodes ${version}: not a version of OpenShift 4, such as 4.12 or 4.18`)
  return Number(minor) < 13
}

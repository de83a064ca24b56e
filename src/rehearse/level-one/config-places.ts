/** Where in a bootstrap config something stands that a finding speaks of. */
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import { type Evidence, lineAt } from '../../openshift/bootstrap/bootstrap-file.ts'

/** The first line of a file that has `text` in it; its first line where none has. Undefined where there is no such file. */
export function lineWith({ files }: Pick<BootstrapConfig, 'files'>, path: string, text: string): Evidence | undefined {
  const file = files.get(path)
  if (file === undefined) return undefined
  const at = file.text.indexOf(text)
  return { file: path, line: at < 0 ? 1 : lineAt(file.text, at) }
}

/**
 * The line of registries.conf, or of a drop-in, that names a repository or what it is below: a mirror by its location, a source
 * by its prefix. The first line of the first file where none does.
 */
export function registriesLine(bootstrap: BootstrapConfig, repository: string): Evidence | undefined {
  const { files } = bootstrap.registries
  for (let name = repository; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('/')))) {
    const path = files.find((one) => bootstrap.files.get(one)?.text.includes(`"${name}"`))
    if (path !== undefined) return lineWith(bootstrap, path, `"${name}"`)
  }
  const [path] = files
  return path === undefined ? undefined : lineWith(bootstrap, path, repository)
}

/** `FILE:LINE`, as editors and compilers write it. */
function placeText({ file, line }: Evidence): string {
  return `${file}:${line}`
}

/** Joined by `; `, without what is not there. */
export function evidenceText(...parts: readonly (string | Evidence | undefined)[]): string {
  return parts
    .flatMap((part) => (part === undefined || part === '' ? [] : [typeof part === 'string' ? part : placeText(part)]))
    .join('; ')
}

/** What `init` tells people. */
import type { SiteConfig } from '../../config/site-configuration.ts'

export interface NewSite {
  readonly file: string
  readonly site: SiteConfig
  /** The ImageSetConfiguration beside it; undefined where nothing of it is mirrored. */
  readonly imageSet: { readonly file: string; readonly isNew: boolean } | undefined
}

export function renderNewSite({ file, site, imageSet }: NewSite): string {
  const kept = imageSet && !imageSet.isNew ? ' (it was there, and stays as it is)' : ''
  const secrets = Object.entries(site.secrets).map(([name, { file: path, env }]) => `  ${name}: ${path ?? `$${env}`}`)
  return [
    `${file}: ${site.name}.${site.baseDomain}, ${site.variant}`,
    ...(imageSet ? [`${imageSet.file}: what is mirrored${kept}`] : []),
    ...(secrets.length > 0 ? ['put these secrets where the file says they are (chmod 600):', ...secrets] : []),
    `next: read ${file}, then sallyport config check ${file}`,
    '',
  ].join('\n')
}

export function renderChangedSite(file: string, fields: readonly string[]): string {
  return `${file}: ${fields.join(', ')} changed\n`
}

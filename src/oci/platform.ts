/** A platform as image indexes name it (OCI image-spec image-index.md, `platform`). */
export interface Platform {
  readonly os: string
  readonly architecture: string
  readonly variant?: string | undefined
  readonly 'os.version'?: string | undefined
}

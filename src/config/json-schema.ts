/** The formats as JSON Schema, for editors: generated from the schemas that load them, never written by hand. */
import * as z from 'zod'
import { DeleteImageSetConfiguration } from './delete-image-set-configuration.ts'
import { ImageSetConfiguration } from './image-set-configuration.ts'
import { SiteConfig } from './site-configuration.ts'

const formats = {
  ImageSetConfiguration: { schema: ImageSetConfiguration, description: 'What sallyport mirror and oc-mirror mirror.' },
  DeleteImageSetConfiguration: {
    schema: DeleteImageSetConfiguration,
    description: 'What sallyport delete and oc-mirror take off a mirror.',
  },
  Site: { schema: SiteConfig, description: 'sallyport.yaml: what a site is, from the mirror to the cluster.' },
} as const

export type SchemaKind = keyof typeof formats

/** The kinds of file that there is a schema for. */
export const schemaKinds: readonly SchemaKind[] = ['ImageSetConfiguration', 'DeleteImageSetConfiguration', 'Site']

/**
 * JSON Schema, draft 2020-12. What lies between fields (a range whose ends are in order, no package twice) cannot be said
 * in it: `sallyport config check` says it.
 */
export function configurationJsonSchema(kind: SchemaKind): object {
  const { schema, description } = formats[kind]
  const { $schema, ...body } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', override: allowEmpty })
  return { $schema, $id: `urn:sallyport:schema:${kind}`, title: kind, description, ...body }
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>

/** A section with nothing under it is null in YAML, and loads as one that is not there. */
const allowEmpty: Override = ({ jsonSchema }) => {
  for (const property of Object.values(jsonSchema.properties ?? {})) {
    if (typeof property === 'object' && (property.type === 'array' || property.type === 'object'))
      Object.assign(property, { type: [property.type, 'null'] })
  }
}

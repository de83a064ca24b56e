import { configurationJsonSchema } from '../src/config/json-schema.ts'
import { renderSiteTemplate } from '../src/config/site-template.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly const?: string
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
}

const example = {
  name: 'c1',
  baseDomain: 'lab.example.com',
  variant: 'disconnected',
  platform: 'none',
  release: '4.18.9',
  registry: 'mirror.lab.example.com:8443/ocp4',
} as const

/** docs/sallyport-yaml.md, from the schema that loads the file. */
export function renderSitePage(): string {
  const rows = rowsOf(configurationJsonSchema('Site') as Schema, '')
  return `# sallyport.yaml

One file says what a site is: the release, the mirror, the way in and out, the cluster. \`sallyport init\` asks and writes one, \`sallyport
config check sallyport.yaml\` says at which line something is wrong, \`sallyport init --set FIELD=VALUE\` changes a field and keeps the
comments, and \`sallyport config schema --kind Site\` prints the JSON Schema for editors. Fields that install-config has too are named as
there. Paths are relative to the file.

Secrets never stand in it. Each has a name under \`secrets\`, which says the file or the environment variable that holds it, and is used by
that name: \`credentials: mirrorAuth\`. A secret that stands in the file itself is refused; the message names the place, and does not repeat it.

| variant | way out of the cluster | needs | stages left out |
|---|---|---|---|
| \`disconnected\` | none | mirror, cluster | |
| \`private\` | yours to decide; nothing is published | cluster | mirror-registry and mirror-images, where no mirror is named |
| \`registry-only\` | | mirror | all but mirror-registry, mirror-images, and of verify the mirror's part |
| \`proxy-only\` | the proxy | proxy, cluster | mirror-registry, mirror-images |

## An example

\`\`\`yaml
${withoutComments(renderSiteTemplate(example))}\`\`\`

## Every field

\`*\` marks what must be there, within its section; \`[]\` an entry of a list; \`NAME\` a name of your choice.

| field | value | meaning |
|---|---|---|
${rows.join('\n')}
`
}

function withoutComments(text: string): string {
  return text.replaceAll(/^ *#.*\n/gm, '').replaceAll(/^\n/gm, '')
}

function rowsOf(schema: Schema, path: string): string[] {
  const { properties = {}, additionalProperties, required = [] } = schema
  const named = Object.entries(properties).filter(([name]) => path !== 'stages' || name === 'infrastructure')
  const own = named.flatMap(([name, field]) => {
    const isStage = path === 'stages'
    const full = `${path === '' ? '' : `${path}.`}${isStage ? 'STAGE' : name}`
    const description = isStage
      ? `What differs for a stage: ${Object.keys(properties).join(', ')}.`
      : (field.description ?? '')
    const mark = required.includes(name) ? '\\*' : ''
    return [row(`\`${full}\`${mark}`, field, description), ...rowsWithin(field, full)]
  })
  const free = typeof additionalProperties === 'object' ? rowsWithin(additionalProperties, `${path}.NAME`) : []
  return [...own, ...free]
}

function rowsWithin(field: Schema, path: string): string[] {
  return field.items ? rowsOf(field.items, `${path}[]`) : rowsOf(field, path)
}

function row(name: string, field: Schema, description: string): string {
  return `| ${name} | ${valueText(field)} | ${description.replaceAll(/[|*]/g, '\\$&')} |`
}

function valueText({ type, enum: values, const: only, items }: Schema): string {
  if (only !== undefined) return `\`${only}\``
  if (values) return values.map((value) => `\`${value}\``).join(', ')
  const [first] = [type ?? ''].flat().filter((one) => one !== 'null')
  const words: Readonly<Record<string, string>> = {
    string: 'text',
    integer: 'number',
    boolean: 'true, false',
    object: 'section',
  }
  if (first === 'array') return items?.properties ? 'list' : 'list of text'
  return words[first ?? ''] ?? String(first)
}

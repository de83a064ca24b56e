/**
 * OperatorHub: which catalogs of its maker a cluster offers. Behind a gap they cannot be reached, and their pods only fail.
 *
 * Source: openshift/api `config/v1/types_operatorhub.go`; there is one of them, named `cluster`.
 */
import * as z from 'zod'
import {
  exactly,
  keptMetadata,
  Metadata,
  parseResource,
  type ResourceFile,
  renderResource,
} from './resource-document.ts'

const apiVersion = 'config.openshift.io/v1'
const name = 'cluster'

const OperatorHub = z.looseObject({
  apiVersion: exactly(apiVersion),
  kind: exactly('OperatorHub'),
  metadata: Metadata.extend({ name: exactly(name) }),
  spec: z
    .looseObject({
      disableAllDefaultSources: z.boolean().optional(),
      sources: z
        .array(z.looseObject({ name: z.string().min(1).max(253).optional(), disabled: z.boolean().optional() }))
        .nullish(),
    })
    .nullish(),
})

/**
 * YAML for `oc apply -f`. A file that is there already is kept with all it says, also where it lets default sources stand:
 * a site may have a way to one of them.
 *
 * @throws KnownError CONFIG_INVALID with the place, where `previous` is no OperatorHub
 */
export function renderOperatorHub(previous?: ResourceFile): string {
  const kept = previous && parseResource(previous, OperatorHub, 'the OperatorHub')
  const spec = { disableAllDefaultSources: true, ...kept?.spec }
  const resource = { apiVersion, kind: 'OperatorHub', metadata: keptMetadata({ name }, kept?.metadata), spec }
  return renderResource(resource, previous && { text: previous.text, kept })
}

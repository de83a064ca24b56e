import { Document } from 'yaml'

export interface CommentedObject {
  readonly object: unknown
  /** Lines above it, for people. */
  readonly comment: string
}

/** Objects of Kubernetes as one YAML file; scripts stand in it as they are, line for line. */
export function yamlDocuments(objects: readonly CommentedObject[]): string {
  return objects
    .map(({ object, comment }) => {
      // Kubernetes reads YAML 1.1, where `yes`, `0777` and `1:30` are no strings unless they stand in quotes.
      const document = new Document(object, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
      document.commentBefore = comment.replaceAll(/^(?=.)/gm, ' ')
      return document.toString({ lineWidth: 0, blockQuote: 'literal' })
    })
    .join('---\n')
}

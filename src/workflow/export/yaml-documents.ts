import { Document, visit } from 'yaml'

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
      visit(document, {
        Scalar: (_, scalar) => {
          if (typeof scalar.value === 'string' && unprintable.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE'
        },
      })
      return document.toString({ lineWidth: 0, blockQuote: 'literal' }).replaceAll(leftRaw, escaped)
    })
    .join('---\n')
}

/**
 * What go-yaml refuses as it is, or takes for the end of a line: control characters, the line breaks of Unicode, a byte order
 * mark, and a tab where it looks for the indent of a block (go-yaml: readerc.go, scannerc.go).
 */
const unprintable = /[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]|^[ \n]*\t/

/** Those of them that quotes alone do not make harmless. */
const leftRaw = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

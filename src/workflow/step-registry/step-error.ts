/** What keeps a list of steps from being resolved, in the words of ci-tools. */

/** What a resolver has to say against a list of steps. */
export interface StepError {
  readonly kind:
    | 'dangling'
    | 'cycle'
    | 'duplicate'
    | 'unresolved'
    | 'unused'
    | 'observer'
    | 'profile'
    | 'lease'
    | 'step'
  /** What it stands in, outermost first: `workflow/ipi`, `chain/install`. */
  readonly above: readonly string[]
  /** What ci-tools says, without what it stands in. */
  readonly message: string
  /** Of what it is about: a parameter, a step, a chain. */
  readonly subject: string
}

/** As ci-tools prints it: `test/e2e: workflow/ipi: chain/install: MESSAGE`. */
export function stepErrorText({ above, message }: StepError): string {
  return [...above, message].join(': ')
}

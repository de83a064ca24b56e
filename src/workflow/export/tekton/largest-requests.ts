import { shmResource } from '../container-step.ts'
import type { ExportableStep } from '../exportable-workflow.ts'

const factors: Readonly<Record<string, number>> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
}

/** The largest request of each resource; nothing where nobody asks. */
export function largestRequests(steps: readonly Pick<ExportableStep, 'resources'>[]): {
  readonly computeResources?: { readonly requests: Readonly<Record<string, string>> }
} {
  const requests: Record<string, string> = {}
  for (const { resources } of steps) {
    for (const [name, amount] of Object.entries(resources.requests ?? {})) {
      if (name !== shmResource && quantity(amount) > quantity(requests[name] ?? '0')) requests[name] = amount
    }
  }
  return Object.keys(requests).length > 0 ? { computeResources: { requests } } : {}
}

/** Of Kubernetes, as a number to compare (apimachinery pkg/api/resource); 0 for what is none. */
function quantity(text: string): number {
  const [, number = '0', unit = ''] = /^([\d.]+)([a-zA-Z]*)$/.exec(text) ?? []
  return Number(number) * (factors[unit] ?? 0)
}

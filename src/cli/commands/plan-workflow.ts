import { KnownError } from '../../errors/known-error.ts'
import type { CliContext } from '../context.ts'

export function planWorkflow(workflow: string, _options: object, _context: CliContext): Promise<number> {
  return Promise.reject(new KnownError('USAGE', `${workflow} cannot be planned yet`))
}

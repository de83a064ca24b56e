import { join } from 'node:path'
import type { RunState } from '../../journal/run-state.ts'
import { writeStaged } from '../../store/staged-write.ts'
import type { RunDirectory } from '../run-directory.ts'
import { junitOf } from './junit.ts'

/** Writes `artifacts/junit_operator.xml` in the directory of the run, where tools of CI look for it. */
export async function writeJunit({ root }: RunDirectory, state: RunState): Promise<string> {
  const path = join(root, 'artifacts', 'junit_operator.xml')
  await writeStaged(path, (file) => file.writeFile(junitOf(state)), 0o600)
  return path
}

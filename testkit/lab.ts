/** Labs that leave nothing behind, also when the test that made them fails. */
import type { TestContext } from 'node:test'
import { systemClock } from '../src/host/clock.ts'
import { processEnv } from '../src/host/env.ts'
import { randomId } from '../src/host/random.ts'
import type { Lab } from '../src/provision/lab/lab-provider.ts'
import { type LabOptions, openLab } from '../src/provision/lab/open-lab.ts'
import type { RecordUndo, UndoRecord } from '../src/provision/provider.ts'
import { peer } from './peers.ts'
import { tempDir } from './temp-dir.ts'

export interface TestLab {
  readonly lab: Lab
  /** What was recorded, as a journal has it. */
  readonly records: readonly UndoRecord[]
  readonly record: RecordUndo
  /** Undoes all records, the last first, as they would be read from a journal. */
  teardown(): Promise<readonly string[]>
}

export const labHost = { env: processEnv(), clock: systemClock }

export const thisUser = { platform: process.platform, uid: process.getuid?.() ?? 1 }

/** The words of a server that answers every request with one text. */
export function webServer(address: string, port: number, text: string): readonly string[] {
  const script = `require('http').createServer((_, answer) => answer.end('${text}')).listen(${port}, '${address}')`
  return [process.execPath, '-e', script]
}

/** False after the test was marked as skipped: network namespaces need root, and programs. */
export function canHaveLab(t: Pick<TestContext, 'skip'>): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    t.skip('network namespaces need root on Linux')
    return false
  }
  return peer(t, 'ip') !== undefined && peer(t, 'nft') !== undefined
}

/** A lab with a name of its own, not made yet. */
export async function testLab(t: TestContext, options: Partial<LabOptions> = {}): Promise<TestLab> {
  const directory = `${await tempDir(t)}/lab`
  const id = `t${randomId().slice(0, 10)}`
  const lab = await openLab(labHost, { id, directory, mode: 'namespaces', user: thisUser, ...options })
  const records: UndoRecord[] = []
  const teardown = () => undoAll(lab, records)
  t.after(teardown)
  return { lab, records, record: async (undo) => void records.push(undo), teardown }
}

/** What each undo said. */
async function undoAll(lab: Pick<Lab, 'remove'>, records: readonly UndoRecord[]): Promise<readonly string[]> {
  const outcomes = []
  for (const undo of JSON.parse(JSON.stringify(records)).reverse()) outcomes.push(await lab.remove(undo))
  return outcomes
}

/** Runs a command on a site of a lab, and gives its status and what it printed. */
export async function runOn(lab: Lab, site: 'connected' | 'bastion' | 'closed', argv: readonly string[]) {
  const said: Uint8Array[] = []
  const status = await lab.run({ site, argv, env: {}, onOutput: (chunk) => said.push(chunk) })
  return { status, text: Buffer.concat(said).toString('utf8') }
}

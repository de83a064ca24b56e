/** Small workflows for the tests of the exports. */
import type { ExportableStep, ExportableWorkflow } from '../src/workflow/export/exportable-workflow.ts'

/** A step that has only what the test says. */
export function exportableStep(id: string, script: string, more: Partial<ExportableStep> = {}): ExportableStep {
  return {
    id,
    phase: 'pre',
    script,
    isProgram: false,
    image: 'registry.example.com/tools/cli:1',
    env: [],
    secretMounts: [],
    timeoutMs: 60_000,
    graceMs: 5_000,
    isBestEffort: false,
    isOptionalOnSuccess: false,
    resources: {},
    ...more,
  }
}

/** Every step notes its name in `$SHARED_DIR/order`; then it does what the given script says. */
export function notingWorkflow(
  scripts: Readonly<Record<string, string | Partial<ExportableStep>>>,
): ExportableWorkflow {
  const steps = Object.entries(scripts).map(([id, given]) => {
    const { script = ':', ...more } = typeof given === 'string' ? { script: given } : given
    const phase = /^(pre|test|post)/.exec(id)?.[0] as ExportableStep['phase']
    return exportableStep(id, `echo ${id} >>"$SHARED_DIR/order"\n${script}`, { phase, ...more })
  })
  return { name: 'small', steps }
}

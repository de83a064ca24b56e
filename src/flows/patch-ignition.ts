/**
 * One patch, for all that it is wanted for: the config itself, an overlay with its parent, and MachineConfigs for nodes.
 *
 * Nothing is read or written here, so that everything is known, and every fault told, before the first file appears.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { encodeDataUrl } from '../ignition/data-url.ts'
import { applyChanges, openForPatching, type PatchEffect } from '../ignition/patch/apply-changes.ts'
import { judgeKernelArguments } from '../ignition/patch/kernel-arguments.ts'
import { overlayOf } from '../ignition/patch/overlay.ts'
import type { IgnitionPatch } from '../ignition/patch/patch.ts'
import { workOutPatch } from '../ignition/patch/patch-changes.ts'
import { applyUndo, placeName, type UndoStep } from '../ignition/patch/undo.ts'
import { judgePointer } from '../ignition/pointer/judge-pointer.ts'
import { type PointerTarget, pointerConfig } from '../ignition/pointer/pointer-config.ts'
import { validateIgnition } from '../ignition/validate.ts'
import { checkRegistriesDropIns } from '../openshift/check-registries-drop-ins.ts'
import { judgeForNodes, type MachineConfigFile, renderMachineConfigs } from '../openshift/machine-config.ts'

export interface NamedConfig {
  readonly name: string
  readonly text: string
}

export interface PatchWishes {
  readonly now: Date
  readonly overlay?: boolean
  readonly parent?: ParentWishes | undefined
  /** Roles of the nodes that get MachineConfigs. */
  readonly roles?: readonly string[] | undefined
}

export interface ParentWishes {
  /** Where the config that is patched will be served, as it is. */
  readonly bootstrapUrl: string
  /** Where the overlay will be served. Default: it stands in the parent. */
  readonly overlayUrl?: string | undefined
  /** PEM */
  readonly ca?: string | undefined
}

export interface PatchOutcome {
  /** The config, patched. */
  readonly text: string
  readonly undo: readonly UndoStep[]
  readonly effects: readonly PatchEffect[]
  /** What of the undo is secret. */
  readonly secrets: readonly string[]
  readonly overlay?: string
  readonly parent?: string
  readonly machineConfigs: readonly MachineConfigFile[]
  /** With an error among them nothing may be written. */
  readonly findings: readonly Finding[]
}

/** @throws KnownError IGNITION_INVALID */
export function patchIgnition(config: NamedConfig, patch: IgnitionPatch, wishes: PatchWishes): PatchOutcome {
  const { now, roles } = wishes
  const { changes, findings } = workOutPatch(patch, now)
  const base = openForPatching(config.text, config.name)
  const patched = applyChanges(config.text, config.name, changes)
  const isForNodes = roles !== undefined
  const { kernelArguments } = changes
  const layered = wishes.overlay === true || wishes.parent !== undefined ? overlayOf(base.config, changes) : undefined
  const overlay = layered === undefined ? undefined : JSON.stringify(layered.config)
  const parent = overlay === undefined ? undefined : parentOf(config, { overlay, version: base.version, wishes })
  const all = [
    ...findings,
    ...checkRegistriesDropIns(base.config, patch.registries ?? []),
    ...(kernelArguments ? judgeKernelArguments(kernelArguments, base.version, { isForNodes }) : []),
    ...patched.findings,
    ...(layered?.findings ?? []),
    ...becameInvalid(config, patched.text),
    ...(overlay === undefined ? [] : refusals('the overlay', overlay)),
    ...(parent?.findings ?? []),
    ...(isForNodes ? judgeForNodes(changes) : []),
  ]
  return {
    ...patched,
    ...(overlay !== undefined && wishes.overlay === true && { overlay }),
    ...(parent !== undefined && { parent: parent.text }),
    machineConfigs: isForNodes ? renderMachineConfigs(changes, { name: patch.name, roles }) : [],
    findings: withoutDoubles(all),
  }
}

/** @throws KnownError IGNITION_INVALID */
export function undoPatch(config: NamedConfig, steps: readonly UndoStep[]): PatchOutcome {
  const { text, undo, findings } = applyUndo(config.text, config.name, steps)
  const undone = undo.filter(({ onlyIfEmpty }) => onlyIfEmpty !== true)
  const effects = undone.map(({ at, left }) => ({
    kind: 'place' as const,
    name: placeName(at),
    effect: left === 'nothing' ? ('removed' as const) : ('replaced' as const),
  }))
  return { text, undo, findings, effects: effects.toReversed(), secrets: [], machineConfigs: [] }
}

interface Layers {
  readonly overlay: string
  readonly version: string
  readonly wishes: PatchWishes
}

/** The overlay comes last: of what is merged, the last one wins (coreos/ignition `docs/operator-notes.md`, "Config Merging"). */
function parentOf(
  config: NamedConfig,
  { overlay, version, wishes }: Layers,
): { readonly text: string; readonly findings: readonly Finding[] } | undefined {
  const { parent, now } = wishes
  if (parent === undefined) return undefined
  const target = (url: string, text: string, hash: PointerTarget['hash']) => ({
    url,
    bytes: Buffer.from(text),
    hash,
    isGzip: false,
  })
  const last =
    parent.overlayUrl === undefined
      ? target(encodeDataUrl(overlay, 'application/vnd.coreos.ignition+json'), overlay, 'none')
      : target(parent.overlayUrl, overlay, 'sha512')
  const targets = [target(parent.bootstrapUrl, config.text, 'sha512'), last]
  const request = { version, via: 'merge' as const, targets, ca: parent.ca }
  const text = JSON.stringify(pointerConfig(request))
  return { text, findings: judgePointer(request, { now, text }) }
}

/** The last net: what Ignition took before, it has to take afterwards. */
function becameInvalid(config: NamedConfig, patched: string): readonly Finding[] {
  const found = refusals(config.name, patched)
  return found.length > 0 && refusals(config.name, config.text).length === 0 ? found : []
}

function refusals(name: string, text: string): readonly Finding[] {
  return validateIgnition(text)
    .entries.filter(({ severity }) => severity === 'error')
    .map(({ path, message }) =>
      finding({
        id: 'ignition.patch-invalid',
        severity: 'error',
        summary: `${name} would be refused by Ignition afterwards: ${path}: ${message}`,
        remedy: 'Change that part of the patch; nothing was written.',
      }),
    )
}

/** What is told of the config in place is told of the overlay too. */
function withoutDoubles(findings: readonly Finding[]): readonly Finding[] {
  const keys = findings.map(({ id, summary }) => `${id} ${summary}`)
  return findings.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
}

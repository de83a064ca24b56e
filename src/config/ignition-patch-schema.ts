/** The file that says how an Ignition config is to be patched, and the one that undoes it. */
import * as z from 'zod'

const name = z
  .string()
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, { error: 'lower-case letters, digits and - only: it names resources' })

/** Text in the patch itself, or a file beside it. */
const contents = { contents: z.string().optional(), file: z.string().optional() }

function isOne({ contents: text, file }: { contents?: string | undefined; file?: string | undefined }): boolean {
  return (text === undefined) !== (file === undefined)
}

const either = { error: 'write either contents or file' }

const Unit = z
  .strictObject({
    name: z.string(),
    enabled: z.boolean().optional(),
    mask: z.boolean().optional(),
    ...contents,
  })
  .refine(({ contents: text, file }) => text === undefined || file === undefined, either)

export const IgnitionPatchFile = z.strictObject({
  /** Of the MachineConfigs; default: of the patch file. */
  name: name.optional(),
  trust: z
    .array(
      z.union([z.string(), z.strictObject({ file: z.string(), name: z.string().optional() })], {
        error: 'a PEM file is wanted: FILE, or file: FILE with name: NAME',
      }),
    )
    .optional(),
  hosts: z.record(z.string(), z.string()).optional(),
  chrony: z.strictObject({ servers: z.array(z.string()).min(1, { error: 'name at least one server' }) }).optional(),
  registries: z
    .array(
      z.union([z.string(), z.strictObject({ name: z.string().optional(), ...contents }).refine(isOne, either)], {
        error: 'a drop-in of registries.conf is wanted: FILE, or name: NAME with contents: TEXT or file: FILE',
      }),
    )
    .optional(),
  units: z.array(Unit).optional(),
  dropins: z
    .array(z.strictObject({ unit: z.string(), name: z.string(), ...contents }).refine(isOne, either))
    .optional(),
  files: z
    .array(
      z
        .strictObject({
          path: z.string(),
          mode: z
            .string()
            .regex(/^0?[0-7]{3}$/, { error: 'three octal digits in quotes are wanted: "0644"' })
            .optional(),
          user: z.string().optional(),
          group: z.string().optional(),
          ...contents,
        })
        .refine(isOne, either),
    )
    .optional(),
  proxy: z
    .strictObject({
      httpProxy: z.string().optional(),
      httpsProxy: z.string().optional(),
      noProxy: z.array(z.string()).optional(),
    })
    .optional(),
  kernelArguments: z
    .strictObject({
      shouldExist: z.array(z.string()).default([]),
      shouldNotExist: z.array(z.string()).default([]),
    })
    .optional(),
})
export type IgnitionPatchFile = z.infer<typeof IgnitionPatchFile>

const Step = z.union([z.string(), z.strictObject({ by: z.string(), is: z.string() })])

export const undoKind = 'IgnitionUndo'

export const IgnitionUndoFile = z.strictObject({
  kind: z.literal(undoKind),
  version: z.literal(1),
  steps: z.array(
    z.strictObject({
      at: z.array(Step).min(1),
      was: z.string().optional(),
      left: z.string().optional(),
      onlyIfEmpty: z.literal(true).optional(),
    }),
  ),
})
export type IgnitionUndoFile = z.infer<typeof IgnitionUndoFile>

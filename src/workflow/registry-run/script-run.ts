import { copyFile, mkdir, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { shellQuote } from '../../host/shell-quote.ts'
import { writeStaged } from '../../store/staged-write.ts'
import type { CommandEnd, StepContext, UndoContext } from '../step.ts'
import type { LiteralStep } from '../step-registry/model.ts'
import { undoRecorderScript } from '../undo-request.ts'
import { containerCommand, profileMount, removeContainers } from './container-command.ts'
import { imageMark, imageOf } from './container-image.ts'
import { credentialMounts } from './credential-mounts.ts'
import { type AttemptPlaces, attemptPlaces, type Script, scriptOf } from './script-command.ts'
import { type RegistryRun, scriptEnvironment } from './script-environment.ts'
import { SecretFiles } from './secret-files.ts'
import { SharedDirectory } from './shared-directory.ts'
import { removeTree } from './tree-removal.ts'

/** How often is looked for what a script has written, while it runs. */
const pollMs = 1000

/** What becomes of SHARED_DIR: observers, and steps without kubeconfig, change nothing (openshift/ci-tools: cmd/entrypoint-wrapper). */
export type SharedUse = 'kept' | 'discarded'

export interface ScriptOrder {
  readonly literal: LiteralStep
  readonly use: SharedUse
  readonly first: 'INT' | 'TERM'
  /** Names the directory of this one. */
  readonly attempt: string
  /** Instead of the script of the step. */
  readonly argv?: readonly string[]
  /** Instead of its image. */
  readonly image?: string
}

/** Runs scripts of one workflow in one run. */
export class ScriptRunner {
  readonly #run: RegistryRun
  #shared: SharedDirectory | undefined
  #rid: Promise<unknown> | undefined

  constructor(run: RegistryRun) {
    this.#run = run
  }

  /** @throws KnownError STEP_FAILED where the script ends with another status than 0, or by a signal */
  async run(order: ScriptOrder, context: UndoContext): Promise<void> {
    const { literal, use } = order
    const shared = this.#sharedOf(context)
    const places = attemptPlaces(context.directories.state, literal, order.attempt)
    const secrets = new SecretFiles((value) => context.hide(value))
    await this.#readSecrets(literal, secrets)
    await this.#removeOldContainers(context.run)
    await (use === 'kept' ? shared.lend(places.shared) : freshSnapshot(shared, places))
    await removeOthers(order, context)
    const watch = new ScriptWatch({ places, shared, secrets, context, isKept: use === 'kept' })
    try {
      await watch.look()
      const end = await this.#execute(order, { context, places, watch })
      judge(end, order)
    } finally {
      await watch.stop()
      if (use === 'kept') {
        for (const warning of await shared.takeBack(places.shared)) context.print(`warning: ${warning}\n`)
      }
      await secrets.read(shared.path, { isOfCredentials: false })
      await removeLeft(places.root, context)
    }
  }

  #sharedOf({ directories }: UndoContext): SharedDirectory {
    if (this.#shared?.path !== directories.shared) this.#shared = new SharedDirectory(directories.shared)
    return this.#shared
  }

  /** Those that a crash has left: they would go on with the same directories. */
  async #removeOldContainers(run: string): Promise<void> {
    const { container } = this.#run.options
    if (container === undefined) return
    this.#rid ??= removeContainers(container, `^${run}-`)
    await this.#rid
  }

  async #readSecrets(literal: LiteralStep, secrets: SecretFiles): Promise<void> {
    const { clusterProfileDir } = this.#run.options
    const mounts = credentialMounts(literal, this.#run.options).map(({ from }) => from)
    for (const directory of clusterProfileDir === undefined ? mounts : [clusterProfileDir, ...mounts]) {
      await secrets.read(directory, { isOfCredentials: true })
    }
  }

  #imageOf(literal: LiteralStep): string | undefined {
    const { container } = this.#run.options
    return container && imageOf(literal, container)
  }

  async #execute(order: ScriptOrder, { context, places, watch }: Execution): Promise<CommandEnd> {
    const { literal, first } = order
    const { options } = this.#run
    const { run: root } = context.directories
    const home = join(root, 'home')
    const undo = join(root, 'undo')
    const script = order.argv === undefined ? scriptOf(literal, places.script) : { argv: order.argv }
    await prepare([home, undo, places.temporary, places.work], { script, path: places.script })
    const undoRecorder = await writeUndoRecorder(undo, { places, image: this.#imageOf(literal) })
    const profile =
      options.container && options.clusterProfileDir !== undefined ? profileMount : options.clusterProfileDir
    const env = scriptEnvironment(literal, this.#run, {
      run: context.run,
      shared: places.shared,
      artifacts: context.directories.artifacts,
      temporary: places.temporary,
      home,
      undoRecorder,
      kubeconfig: places.kubeconfig,
      ...(profile !== undefined && { clusterProfile: profile }),
      ...(literal.cli !== undefined && options.cliDir !== undefined && { cli: options.cliDir }),
    })
    watch.start()
    const beforeOutput = () => watch.readSecrets()
    const { container } = options
    if (container === undefined) {
      const path = literal.cli !== undefined && options.cliDir ? `${options.path}:${options.cliDir}` : options.path
      const own = { argv: script.argv, env: { ...env, PATH: path }, cwd: places.work }
      return context.exec({ ...own, first, beforeOutput, endsDaemons: true })
    }
    const image = order.image ?? this.#imageOf(literal) ?? ''
    const name = `${context.run}-${places.root.slice(root.length + 1)}`.replace(/[^\w.-]+/g, '-')
    const writable = [places.root, context.directories.artifacts, home, undo]
    const command = containerCommand(
      { argv: script.argv, env, name, image, writable, literal, cwd: places.work },
      { options, container },
    )
    try {
      return await context.exec({ ...command, first, beforeOutput })
    } finally {
      await removeContainers(container, `^${name}$`)
    }
  }
}

interface UndoPlace {
  readonly places: AttemptPlaces
  readonly image: string | undefined
}

/** What is registered in a container is taken away in a container of the same image. */
async function writeUndoRecorder(undo: string, { places, image }: UndoPlace): Promise<string> {
  const recorder = join(undo, 'record')
  await writeProgram(recorder, undoRecorderScript(undo))
  if (image === undefined) return recorder
  const ofImage = join(places.root, 'record-undo')
  await writeProgram(ofImage, `#!/bin/sh\nexec ${shellQuote(recorder)} ${shellQuote(imageMark + image)} "$@"\n`)
  return ofImage
}

interface Execution {
  readonly context: UndoContext
  readonly places: AttemptPlaces
  readonly watch: ScriptWatch
}

async function freshSnapshot(shared: SharedDirectory, { root, shared: copy }: AttemptPlaces): Promise<void> {
  await removeTree(root)
  await shared.snapshot(copy)
}

/** What attempts have left that came to a sudden end. */
async function removeOthers({ attempt }: ScriptOrder, context: UndoContext): Promise<void> {
  const { state } = context.directories
  const others = (await readdir(state)).filter((name) => name !== attempt)
  await Promise.all(others.map((name) => removeLeft(join(state, name), context)))
}

/** It is in nobody's way: the next attempt has another directory. */
async function removeLeft(path: string, { print }: UndoContext): Promise<void> {
  const obstacle = await removeTree(path)
  if (obstacle !== undefined) print(`warning: ${obstacle}\n`)
}

async function prepare(
  directories: readonly string[],
  { script, path }: { readonly script: Script; readonly path: string },
): Promise<void> {
  for (const directory of directories) await mkdir(directory, { recursive: true, mode: 0o700 })
  if (script.file !== undefined) await writeProgram(path, script.file)
}

/** Observers and a step may write the same one at the same time. */
async function writeProgram(path: string, text: string): Promise<void> {
  await writeStaged(path, (file) => file.writeFile(text), 0o700)
}

function judge({ status, signal }: CommandEnd, { literal, argv }: ScriptOrder): void {
  if (status === 0) return
  const what = argv === undefined ? literal.as : argv.join(' ')
  if (status === undefined) {
    throw new KnownError('STEP_FAILED', `${what} was ended by ${signal ?? 'a signal'}`, {
      details: { signal: signal ?? 'unknown' },
    })
  }
  throw new KnownError('STEP_FAILED', `${what} ended with status ${status}`, { details: { exit: status } })
}

interface WatchParts {
  readonly places: AttemptPlaces
  readonly shared: SharedDirectory
  readonly secrets: SecretFiles
  readonly context: Pick<StepContext, 'clock' | 'print'>
  readonly isKept: boolean
}

/**
 * Looks after what a script writes while it runs: its secrets are hidden, and a kubeconfig reaches the observers, and the
 * script itself as `$KUBECONFIG`, as soon as it is there.
 */
class ScriptWatch {
  readonly #parts: WatchParts
  #hasKubeconfig = false
  #isFirst = true
  #cancel: (() => void) | undefined
  #looking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(parts: WatchParts) {
    this.#parts = parts
  }

  start(): void {
    const { clock, print } = this.#parts.context
    if (this.#isStopped) return
    this.#cancel = clock.after(pollMs, () => {
      this.#looking = this.look()
        .catch((error: unknown) => print(`warning: ${error instanceof Error ? error.message : String(error)}\n`))
        .then(() => this.start())
    })
  }

  /** What a script prints it may have written to SHARED_DIR a moment ago. */
  async readSecrets(): Promise<void> {
    const { places, secrets } = this.#parts
    await secrets.read(places.shared, { isOfCredentials: false }).catch(() => undefined)
  }

  async look(): Promise<void> {
    const { places, shared, isKept } = this.#parts
    await this.readSecrets()
    const isFirst = this.#isFirst
    this.#isFirst = false
    for (const source of this.#hasKubeconfig ? [] : [places.shared, shared.path]) {
      const path = join(source, 'kubeconfig')
      if (!(isFirst || (await this.#isWritten(path))) || !(await copyIfThere(path, places.kubeconfig))) continue
      this.#hasKubeconfig = true
      if (source === places.shared && isKept && !isFirst) await shared.update(places.shared)
      return
    }
  }

  /** Whoever writes it just now has not ended. */
  async #isWritten(path: string): Promise<boolean> {
    const entry = await stat(path).catch(() => undefined)
    return entry !== undefined && entry.size > 0 && entry.mtimeMs < this.#parts.context.clock.now() - pollMs / 2
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel?.()
    await this.#looking
    await this.readSecrets()
  }
}

/** Whole or not at all. */
async function copyIfThere(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, `${to}.new`)
    await rename(`${to}.new`, to)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'EISDIR', 'EACCES')) return false
    throw error
  }
}

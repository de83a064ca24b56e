/** Lines that somebody types on a terminal, also those that come before they are asked for: people paste. */
import { createInterface, type Interface } from 'node:readline'
import { KnownError } from '../errors/known-error.ts'

export interface Terminal {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

export class TypedLines {
  readonly #lines: Interface
  readonly #output: NodeJS.WritableStream
  readonly #ahead: string[] = []
  #waiting: PromiseWithResolvers<string> | undefined
  #isOver = false

  constructor({ input, output }: Terminal) {
    this.#output = output
    this.#lines = createInterface({ input, output })
    this.#lines.on('line', (line) => this.#take(line))
    // On a terminal readline takes Ctrl-C and Ctrl-D, and the process hears of neither.
    this.#lines.once('SIGINT', () => this.#end())
    this.#lines.once('close', () => this.#end())
  }

  tell(text: string): void {
    this.#output.write(text)
  }

  /** @throws KnownError INTERRUPTED at Ctrl-C, and where there are no more lines */
  async next(prompt: string): Promise<string> {
    this.#lines.setPrompt(prompt)
    const ahead = this.#ahead.shift()
    if (ahead !== undefined) {
      this.tell(`${prompt}${ahead}\n`)
      return ahead
    }
    if (this.#isOver) throw interrupted()
    this.#lines.prompt()
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  close(): void {
    this.#lines.close()
  }

  #take(line: string): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) waiting.resolve(line)
    else this.#ahead.push(line)
  }

  #end(): void {
    this.#isOver = true
    this.#waiting?.reject(interrupted())
    this.#waiting = undefined
  }
}

function interrupted(): KnownError {
  return new KnownError('INTERRUPTED', 'Interrupted: nothing is written', { hint: 'Run the same command again.' })
}

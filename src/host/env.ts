/** The environment, read once in `cli/main.ts` and passed down; nothing else looks at `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>

export function processEnv(): Env {
  return { ...process.env }
}

const nobody = 65_534

/** Root may do everything: while `action` runs this process is somebody who may not. */
export async function asNobody<Result>(action: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return action()
  process.seteuid?.(nobody)
  try {
    return await action()
  } finally {
    process.seteuid?.(0)
  }
}

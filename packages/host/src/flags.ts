/** The command line is wrong: exit code 2. `message` lists in one line what is possible. */
export class UsageError extends Error {
  readonly code = 'usage'
}

/**
 * Reads a command line of flags only. An unknown flag must not start something that nobody meant.
 * @throws UsageError
 */
export function readFlags<const F extends string>(known: readonly F[], args: readonly string[]): Set<F> {
  const isKnown = (text: string): text is F => known.some((flag) => flag === text)
  return new Set(
    args.map((text) => {
      if (isKnown(text)) return text
      const all = known.length > 0 ? `only ${known.join(', ')}` : 'none'
      throw new UsageError(`${text} is not an option of this program, which has ${all}`)
    }),
  )
}

/** @returns the exit code for what ended a program */
export function exitCodeOf(error: unknown): number {
  return error instanceof UsageError ? 2 : 1
}

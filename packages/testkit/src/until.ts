/** How long a test waits for something before it fails, in ms. */
const PATIENCE = 60_000

/**
 * Asks again and again until there is an answer.
 * @param what named in the error, like `the node to turn online`
 * @returns the first answer that is neither undefined, null nor false
 * @throws Error after `timeoutMs`, with the last failure as its cause
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  { timeoutMs = PATIENCE, everyMs = 25 } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeoutMs
  let cause: unknown
  for (;;) {
    try {
      const answer = await ask()
      // The three values that mean "not yet" are the ones excluded from the type.
      if (answer !== undefined && answer !== null && answer !== false) {
        return answer as Exclude<T, undefined | null | false>
      }
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`, { cause })
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

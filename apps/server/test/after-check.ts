import type { TestServer } from '@postern/testkit/server'
import { vi } from 'vitest'

/** Does something just after the next right password was found right, and before what it was given for. */
export function afterNextCheck(
  { context: { passwordGate } }: TestServer,
  work: () => Promise<unknown>,
): void {
  const pass = passwordGate.pass.bind(passwordGate)
  const spy = vi.spyOn(passwordGate, 'pass').mockImplementation(async (check, rank) => {
    const outcome = await pass(check, rank)
    spy.mockRestore()
    await work()
    return outcome
  })
}

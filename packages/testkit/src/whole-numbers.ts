import { StatementSync } from 'node:sqlite'

let isHeld = false

/**
 * Lets statements fail that are given a fraction: every number in our tables is a whole one. SQLite compares a fraction
 * with them in silence, and other databases refuse it.
 */
export function holdWholeNumbers(): void {
  if (isHeld) return
  isHeld = true
  const statement = StatementSync.prototype
  for (const name of ['all', 'run', 'iterate'] as const) {
    const original = statement[name]
    Object.defineProperty(statement, name, {
      value(this: StatementSync, ...values: unknown[]) {
        const fraction = values.find((value) => typeof value === 'number' && !Number.isInteger(value))
        if (fraction !== undefined) throw new TypeError(`${fraction} for a whole number: ${this.sourceSQL}`)
        return Reflect.apply(original, this, values)
      },
    })
  }
}

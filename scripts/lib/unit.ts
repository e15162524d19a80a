import { CommandError } from './errors.ts'

/** A unit with its `@NAME@` marks filled in. @throws on a path that a unit file cannot hold as it is */
export function renderUnit(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/@([A-Z_]+)@/g, (mark, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`${mark} is not filled in`)
    if (!/^[A-Za-z0-9/._+-]+$/.test(value))
      throw new CommandError(
        `${value} has characters not allowed in a systemd unit: move the repository to a plain path`,
      )
    return value
  })
}

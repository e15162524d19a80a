import { CommandError } from './errors.ts'

/** The lines of an EnvironmentFile of systemd, each value quoted. @throws on a value with a line break */
export function renderEnvironmentFile(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => {
    if (/[\r\n\0]/.test(value)) throw new CommandError(`${name} must be one line`)
    return `${name}="${value.replace(/[\\"]/g, '\\$&')}"`
  })
  return `${['# The settings of Postern. After a change: systemctl restart postern-server postern-edge', ...lines].join('\n')}\n`
}

/** Reads what renderEnvironmentFile wrote, and plain NAME=value lines that a person added. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap((line) => {
    const [, name, quoted, plain] = /^\s*(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))\s*$/.exec(line) ?? []
    return name ? [[name, quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '']] : []
  })
  return Object.fromEntries(pairs)
}

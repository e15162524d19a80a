import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { messageOf } from '@postern/host/errors'
import { UsageError } from '@postern/host/flags'
import { CommandError, runCommand } from '../scripts/lib/command.ts'
import { judge, Limits, type Report, renderTable } from './figures.ts'
import { measureAttacks } from './groups/attacks.ts'
import { measureAll } from './run.ts'
import { LONG, SHORT } from './sizes.ts'

/**
 * `npm run bench [-- --short] [-- --out=DIR]`, or `-- --attacks [--way=TEXT] [--seconds=N]` for what attacks do to others:
 * exit code 1 when a ratio is over its limit.
 */
async function bench(args: readonly string[]): Promise<number> {
  const values = readOptions(args)
  if (process.getuid?.() !== 0) throw new CommandError('the bench makes network namespaces: run it as root')
  const limits = readLimits(values.attacks ? 'attack-limits.json' : 'limits.json', values.way)
  const measured = values.attacks
    ? await measureAttacks({ way: values.way, seconds: values.seconds, say })
    : await measureAll(values.short ? SHORT : LONG, say)
  const figures = judge(measured, limits)
  const report: Report = { at: new Date().toISOString(), short: values.short, figures }
  mkdirSync(values.out, { recursive: true })
  const run = values.short ? 'short' : 'long'
  const file = `${values.out}/${values.attacks ? 'attacks' : run}.json`
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
  say(`\n${renderTable(figures)}\n\nwritten to ${file}`)
  return figures.some(({ verdict }) => verdict === 'slow') ? 1 : 0
}

function readOptions(args: readonly string[]) {
  const short = { type: 'boolean', default: false } as const
  const out = { type: 'string', default: here('results') } as const
  const way = { type: 'string', default: '' } as const
  const seconds = { type: 'string', default: '60' } as const
  try {
    const options = { short, attacks: short, way, seconds, out }
    const { values } = parseArgs({ args: [...args], options })
    if (!/^([1-9]|[1-5][0-9]|60)$/.test(values.seconds)) throw new Error('--seconds is from 1 to 60')
    return { ...values, seconds: Number(values.seconds) }
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** Only figures whose name contains this text. */
function readLimits(file: string, text: string): Limits {
  const limits = Limits.parse(JSON.parse(readFileSync(here(file), 'utf8')))
  return Object.fromEntries(Object.entries(limits).filter(([name]) => name.includes(text)))
}

function here(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

await runCommand(bench)

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { StatementSync } from 'node:sqlite'

/**
 * Loaded into a program before its own: it is killed before the step whose number is at the end of this file's
 * address, like `?7`. A step changes a file or the database.
 */
let left = Number(new URL(import.meta.url).search.slice(1))

function countCalls(of: object, name: string): void {
  const original = Reflect.get(of, name)
  Reflect.set(of, name, function (this: unknown, ...args: unknown[]) {
    if (--left < 0) process.kill(process.pid, 'SIGKILL')
    return Reflect.apply(original, this, args)
  })
}

for (const name of ['rmSync', 'renameSync']) countCalls(fs, name)
for (const name of ['open', 'rename', 'rm']) countCalls(fs.promises, name)
countCalls(StatementSync.prototype, 'run')
syncBuiltinESMExports()

import childProcess from 'node:child_process'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'

/**
 * Loaded into an edge or an agent before its own program: a message, or `?steps=` at the end of this file's address,
 * says how many more steps it may take, and it is killed before the next one. A step changes something outside the
 * process; reading is no step.
 */
let left = Number(new URL(import.meta.url).searchParams.get('steps') ?? Number.POSITIVE_INFINITY)
process.on('message', (steps) => {
  left = Number(steps)
  process.send?.('counting')
})

/** The end of an empty input, and a question over HTTP or to WireGuard, are steps too. */
const READS = /^(show|list|-j|-s|-o|-L|-E|get=1|GET)\b|^$/

function countCalls(of: object, name: string, isLook: (...args: unknown[]) => boolean): void {
  const original = Reflect.get(of, name)
  Reflect.set(of, name, function (this: unknown, ...args: unknown[]) {
    if (!isLook(...args) && --left < 0) process.kill(process.pid, 'SIGKILL')
    return Reflect.apply(original, this, args)
  })
}

countCalls(childProcess, 'spawn', (_, args) => READS.test(String(args)))
for (const name of ['write', 'end'])
  countCalls(Socket.prototype, name, (text) => text === undefined || READS.test(String(text)))
for (const name of ['rename', 'rm', 'writeFile', 'appendFile']) countCalls(fs, name, () => false)
syncBuiltinESMExports()

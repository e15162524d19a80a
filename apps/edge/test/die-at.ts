import childProcess from 'node:child_process'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'

/**
 * Loaded into an edge or an agent before its own program: a message, or `?steps=` at the end of this file's address,
 * says how many more steps it may take, and it is killed in front of the next one. A step changes something outside of the process; looking at it changes nothing.
 */
let left = Number(new URL(import.meta.url).searchParams.get('steps') ?? Number.POSITIVE_INFINITY)
process.on('message', (steps) => {
  left = Number(steps)
  process.send?.('counting')
})

/** Also the end of an empty input, and a question over HTTP or to WireGuard. */
const LOOKS = /^(show|list|-j|-s|-o|-L|-E|get=1|GET)\b|^$/

function countCalls(of: object, name: string, isLook: (...args: unknown[]) => boolean): void {
  const original = Reflect.get(of, name)
  Reflect.set(of, name, function (this: unknown, ...args: unknown[]) {
    if (!isLook(...args) && --left < 0) process.kill(process.pid, 'SIGKILL')
    return Reflect.apply(original, this, args)
  })
}

countCalls(childProcess, 'spawn', (_, args) => LOOKS.test(String(args)))
for (const name of ['write', 'end'])
  countCalls(Socket.prototype, name, (text) => text === undefined || LOOKS.test(String(text)))
for (const name of ['rename', 'rm', 'writeFile', 'appendFile']) countCalls(fs, name, () => false)
syncBuiltinESMExports()

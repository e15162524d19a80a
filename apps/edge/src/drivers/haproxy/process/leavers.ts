import { connect, type Socket } from 'node:net'
import type { Read } from '../../../counts/reading.ts'
import { readCounts } from '../runtime/counts.ts'
import { HaproxySocketError } from '../runtime/socket.ts'

/**
 * Processes that have handed over and only finish their connections. They give up their socket, but keep a connection
 * to it that is open already; and as long as we hold it, none ends before its counters were read.
 */
export interface Leavers {
  /** Before it is asked to hand over. @returns what to call when it has, or has not */
  hold(): Promise<(hasLeft: boolean) => void>
  reads(): Read[]
  /** The last look at all of them, before they are ended. */
  dismiss(): Promise<void>
}

interface LeaversOptions {
  socketPath: string
  /** Resolves when what was read is safe. */
  countLast(read: Read): Promise<void>
}

interface Held {
  ask(command: string): Promise<string>
  close(): void
}

const LOOK_EVERY = 1000
const TIMEOUT = 2000
/** Longer than the time after which HAProxy ends by itself. */
const KEEP_SECONDS = 1200

export function createLeavers({ socketPath, countLast }: LeaversOptions): Leavers {
  const held = new Set<Held>()
  const readOf =
    (each: Held): Read =>
    () =>
      readCounts(each.ask)
  const end = async (each: Held) => {
    await countLast(readOf(each))
    each.close()
    held.delete(each)
  }
  const follow = (each: Held) => {
    const timer = setInterval(async () => {
      if (!held.has(each)) return clearInterval(timer)
      const info = await each.ask('show info').catch(() => undefined)
      if (info === undefined) held.delete(each)
      // The one is ours.
      else if (/^Jobs: [01]$/m.test(info)) await end(each)
    }, LOOK_EVERY).unref()
  }
  return {
    async hold() {
      const each = await openHeld(socketPath).catch(() => undefined)
      return (hasLeft) => {
        if (!each) return
        if (!hasLeft) return each.close()
        held.add(each)
        follow(each)
      }
    },
    reads: () => [...held].map(readOf),
    dismiss: async () => void (await Promise.all([...held].map(end))),
  }
}

/** A connection that stays open, where each answer ends with a prompt. */
async function openHeld(path: string): Promise<Held> {
  const socket = connect({ path })
  socket.unref()
  let last: Promise<unknown> = Promise.resolve()
  const ask = (command: string) => {
    const turn = last.then(() => exchange(socket, command))
    last = turn.catch(() => undefined)
    return turn
  }
  await ask('prompt')
  await ask(`set timeout cli ${KEEP_SECONDS}`)
  return {
    async ask(line) {
      let answer = ''
      for (const command of line.split(';')) answer += await ask(command)
      return answer
    },
    close: () => socket.destroy(),
  }
}

const PROMPT = '\n> '

function exchange(socket: Socket, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const finish = (error?: Error) => {
      clearTimeout(timer)
      socket.off('data', hear).off('error', finish).off('close', fail)
      if (error) {
        socket.destroy()
        reject(new HaproxySocketError(`HAProxy's socket: ${error.message}`))
      } else resolve(Buffer.concat(chunks).toString('utf8'))
    }
    const hear = (chunk: Buffer) => {
      chunks.push(chunk)
      const end = chunk.length >= PROMPT.length ? chunk : Buffer.concat(chunks)
      if (end.subarray(-PROMPT.length).toString() === PROMPT) finish()
    }
    const fail = () => finish(new Error('it was closed'))
    const timer = setTimeout(() => finish(new Error('no answer in time')), TIMEOUT)
    if (socket.destroyed) return fail()
    socket.on('data', hear).on('error', finish).on('close', fail)
    socket.write(`${command}\n`)
  })
}

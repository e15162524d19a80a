import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Context } from '../context.ts'
import { UnavailableError } from '../core/errors.ts'
import type { PersonCaller } from './auth.ts'
import { watchCaller } from './caller-end.ts'

/** Of all people, and of one of them. */
const [MOST_EXPORTS, MOST_PER_PERSON] = [8, 2]
/** A reader that takes longer holds a place of others. */
const EXPORT_PATIENCE = 10 * 60_000

interface Exported {
  context: Context
  caller: PersonCaller
  reply: FastifyReply
  /** Of the file, to which day and ending come. */
  name: string
  format: 'jsonl' | 'csv'
  make(signal: AbortSignal): AsyncGenerator<string>
}

/**
 * Sends files piece by piece, a few at the same time. One ends with the session of the person who asked for it.
 * @returns a function that sends one; it throws UnavailableError
 */
export function createExporter(): (exported: Exported) => FastifyReply {
  const running: number[] = []
  return ({ context, caller, reply, name, format, make }) => {
    const own = running.filter((id) => id === caller.userId)
    if (running.length >= MOST_EXPORTS || own.length >= MOST_PER_PERSON)
      throw new UnavailableError('Too many exports are under way. Try again later')
    running.push(caller.userId)
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), EXPORT_PATIENCE)
    const stop = watchCaller(context, caller, () => controller.abort())
    const readable = Readable.from(make(controller.signal))
    controller.signal.addEventListener('abort', () => readable.destroy())
    readable.once('close', () => {
      running.splice(running.indexOf(caller.userId), 1)
      clearTimeout(timer)
      stop()
      controller.abort()
    })
    const day = new Date(context.clock()).toISOString().slice(0, 10)
    reply.headers({
      'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
      'content-disposition': `attachment; filename="${name}-${day}.${format}"`,
      'cache-control': 'no-store',
    })
    // For the head alone nothing is read.
    if (reply.request.method === 'HEAD') readable.destroy()
    return reply.send(readable)
  }
}

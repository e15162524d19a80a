import { Readable } from 'node:stream'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { UnavailableError } from '../core/errors.ts'
import { parseCursor } from '../core/requests/cursor.ts'
import { exportRequests } from '../core/requests/export.ts'
import { listNewRequests, listRequests, readStreamFilter } from '../core/requests/requests.ts'
import { watchCaller } from '../http/caller-end.ts'
import { type Call, route } from '../http/route.ts'
import { openStream } from '../http/sse.ts'

/** In ms, between two looks for what is new. */
const LOOK_EVERY = 1000
const MOST_EXPORTS = 4
/** A reader that takes longer holds a place of others. */
const EXPORT_PATIENCE = 10 * 60_000

export function requestRoutes(app: FastifyInstance): void {
  let exports = 0
  route(app, endpoints.listRequests, ({ context, query, reply }) =>
    listRequests(context, query, whileConnected(reply)),
  )
  route(app, endpoints.streamRequests, followRequests)
  route(app, endpoints.exportRequests, async (call) => {
    if (exports >= MOST_EXPORTS) throw new UnavailableError('Too many exports are under way. Try again later')
    // Before the first wait: of many that begin at once, only so many count as the first.
    exports++
    const { readable, end } = await openExport(call).catch((error: unknown) => {
      exports--
      throw error
    })
    readable.once('close', () => {
      exports--
      end()
    })
    // Whoever asks for the head alone holds no place, and nothing is read for them.
    if (call.request.method === 'HEAD') readable.destroy()
    return call.reply.send(readable)
  })
}

/** Aborts when whoever asked has left. */
function whileConnected({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  raw.once('close', () => controller.abort())
  return controller.signal
}

async function followRequests(call: Call<typeof endpoints.streamRequests>): Promise<unknown> {
  const { context, query } = call
  const { after, token: _, ...filters } = query
  const filter = await readStreamFilter(context, filters)
  const controller = new AbortController()
  const stream = openStream(call)
  let cursor = parseCursor(after)
  let timer: NodeJS.Timeout | undefined
  const look = async () => {
    if (!stream.isBusy) {
      const news = await listNewRequests(context, filter, cursor, controller.signal)
      cursor = news.after
      if (news.batch.data.length > 0) stream.send({ data: JSON.stringify(news.batch) })
    }
    plan()
  }
  const plan = () => {
    if (stream.isClosed) return
    timer = setTimeout(() => void look().catch(fail), LOOK_EVERY)
  }
  const fail = (err: unknown) => {
    context.log.error({ err }, 'new requests could not be read')
    stream.close()
  }
  stream.onClose(() => {
    clearTimeout(timer)
    controller.abort()
  })
  void look().catch(fail)
  return call.reply
}

async function openExport({ context, caller, query, reply }: Call<typeof endpoints.exportRequests>) {
  const { format, token: _, ...filters } = query
  // What is wrong with the filters is said before the first byte.
  await readStreamFilter(context, filters)
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), EXPORT_PATIENCE)
  const stop = watchCaller(context, caller, () => controller.abort())
  const readable = Readable.from(exportRequests(context, filters, format, controller.signal))
  controller.signal.addEventListener('abort', () => readable.destroy())
  const day = new Date(context.clock()).toISOString().slice(0, 10)
  reply.headers({
    'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
    'content-disposition': `attachment; filename="requests-${day}.${format}"`,
    'cache-control': 'no-store',
  })
  const end = () => {
    clearTimeout(timer)
    stop()
    controller.abort()
  }
  return { readable, end }
}

import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { parseCursor } from '../core/requests/cursor.ts'
import { exportRequests } from '../core/requests/export.ts'
import { listNewRequests, listRequests, readStreamFilter } from '../core/requests/requests.ts'
import { createExporter } from '../http/export.ts'
import { type Call, route } from '../http/route.ts'
import { openStream } from '../http/sse.ts'

/** In ms, between two looks for what is new. */
const LOOK_EVERY = 1000

export function requestRoutes(app: FastifyInstance): void {
  const send = createExporter()
  route(app, endpoints.listRequests, ({ context, query, reply }) =>
    listRequests(context, query, whileConnected(reply)),
  )
  route(app, endpoints.streamRequests, followRequests)
  route(app, endpoints.exportRequests, async ({ context, caller, query, reply }) => {
    const { format, token: _, ...filters } = query
    // What is wrong with the filters is said before the first byte.
    await readStreamFilter(context, filters)
    const make = (signal: AbortSignal) => exportRequests(context, filters, format, signal)
    return send({ context, caller, reply, name: 'requests', format, make })
  })
}

/** Aborts when the client has left. */
function whileConnected({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  raw.once('close', () => controller.abort())
  return controller.signal
}

async function followRequests(call: Call<typeof endpoints.streamRequests>): Promise<unknown> {
  const { context, query } = call
  const { after, token: _, ...filters } = query
  let filter = await readStreamFilter(context, filters)
  let isStale = false
  const stopListening = context.bus.listen((hint) => {
    isStale ||= hint.kind === 'changed'
  })
  const controller = new AbortController()
  const stream = openStream(call)
  let cursor = parseCursor(after)
  let timer: NodeJS.Timeout | undefined
  const look = async () => {
    if (!stream.isBusy) {
      // Its services may have moved to where this person sees nothing.
      if (isStale) {
        isStale = false
        filter = await readStreamFilter(context, filters)
      }
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
    stopListening()
    clearTimeout(timer)
    controller.abort()
  })
  void look().catch(fail)
  return call.reply
}

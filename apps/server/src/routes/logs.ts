import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { NotFoundError } from '../core/errors.ts'
import { listWatchedServices } from '../core/logs/watched-services.ts'
import { type Call, route } from '../http/route.ts'
import { type EventStream, openStream } from '../http/sse.ts'

type StreamCall = Call<typeof endpoints.streamLogs>

export function logRoutes(app: FastifyInstance): void {
  route(app, endpoints.streamLogs, async (call) => {
    const services = await listWatchedServices(call.context.db, call.query)
    const stream = openStream(call)
    const watcher = call.context.logs.watch(services, lastEventId(call), (lines, id) =>
      stream.send({ data: JSON.stringify(lines), id }),
    )
    stream.onClose(watcher.close)
    follow(call, stream, watcher.setServices)
    return call.reply
  })
}

function lastEventId({ request }: StreamCall): string | undefined {
  const header = request.headers['last-event-id']
  return typeof header === 'string' ? header : undefined
}

/** Services come to a domain and leave it; the stream ends with the domain or the service. */
function follow({ context, query }: StreamCall, stream: EventStream, set: (ids: number[]) => void): void {
  const look = () =>
    listWatchedServices(context.db, query).then(set, (error: unknown) => {
      if (!(error instanceof NotFoundError)) context.log.error({ err: error }, 'watched services not read')
      stream.close()
    })
  const stop = context.bus.listen((hint) => {
    if (hint.kind !== 'changed') return
    const { services = [], domains = [], nodes = [] } = hint.touched
    if (services.length + domains.length + nodes.length > 0) void look()
  })
  stream.onClose(stop)
}

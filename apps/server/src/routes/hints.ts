import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { HintNoun } from '@postern/contract/hints'
import { createSingleFlight } from '@postern/host/tasks'
import type { FastifyInstance } from 'fastify'
import type { Hint } from '../changes/live.ts'
import { type Call, route } from '../http/route.ts'
import { openStream } from '../http/sse.ts'

/** A page gets hints at most this often; the first after a quiet time comes at once. */
const GAP_MS = 250

export function hintRoutes(app: FastifyInstance): void {
  route(app, endpoints.streamHints, streamHints)
}

function streamHints(call: Call<typeof endpoints.streamHints>): void {
  const { bus, log } = call.context
  const stream = openStream(call)
  const untold = new Set<HintNoun>()
  const tell = async () => {
    if (untold.size === 0 || stream.isBusy) return
    stream.send({ data: JSON.stringify([...untold]) })
    untold.clear()
  }
  const telling = createSingleFlight(
    () => tell().catch((err: unknown) => log.error({ err }, 'a page could not get its hints')),
    GAP_MS,
  )
  const stop = bus.listen((hint) => {
    for (const noun of nounsOf(hint)) untold.add(noun)
    if (untold.size > 0) telling.trigger()
  })
  stream.onDrain(() => telling.trigger())
  stream.onClose(() => {
    stop()
    telling.close()
  })
}

/** Figures come over the streams of nodes; a service's row depends on its node's status. */
function nounsOf(hint: Hint): readonly HintNoun[] {
  if (hint.kind === 'edges') return ['edges']
  if (hint.kind === 'alerts') return ['alerts']
  if (hint.kind === 'ordered') return ['domains']
  if (hint.kind === 'reported') return ['services']
  if (hint.kind === 'figures' && hint.isReport) return ['nodes']
  if (hint.kind === 'figures') return hint.turned?.length ? ['services'] : []
  if (hint.kind !== 'changed') return []
  const { touched } = hint
  // The addresses of services name the public host, and domains the authority.
  if (touched.settings) return ['settings', 'config', 'services', 'domains']
  // A person's own account and sessions too.
  if (touched.people) return ['people', 'account', 'auth']
  // A node's row says when its file knows fewer edges.
  const nodes = touched.tunnelEnds ? (['nodes'] as const) : []
  const others = (['nodes', 'services', 'domains', 'edges'] as const).filter(
    (noun) => (touched[noun] ?? []).length > 0,
  )
  return [...nodes, ...others]
}

import type { endpoints } from '@postern/contract/endpoints'
import { getRevision } from '../changes/change.ts'
import type { Context } from '../context.ts'
import type { Topic } from '../core/feeds.ts'
import { nodeListTopic, nodeTopic, touchesServices } from '../core/node-topics.ts'
import { getNode } from '../core/nodes.ts'
import { createThrottle } from '../core/throttle.ts'
import type { Call } from '../http/route.ts'
import { type EventStream, openStream } from '../http/sse.ts'

/** As often as the rows themselves. */
const GAP_MS = 250

/** With `id` one node and the hints about its services, else the rows of a list. @throws NotFoundError */
export async function streamNodes(call: Call<typeof endpoints.streamNodes>): Promise<void> {
  const { id, token: _token, ...query } = call.query
  const { context } = call
  if (id === undefined) return followTopic(context, openStream(call), nodeListTopic(context, query))
  await getNode(context, id)
  const stream = openStream(call)
  followTopic(context, stream, nodeTopic(context, id))
  followServices(context, stream, id)
}

function followTopic(context: Context, stream: EventStream, topic: Topic): void {
  const following = context.feeds.follow(topic, {
    get isBusy() {
      return stream.isBusy
    },
    send: (json) => stream.send({ data: json }),
    end: () => stream.close(),
  })
  stream.onDrain(() => following.resume())
  stream.onClose(() => following.stop())
}

/** Says that the node's services are worth reading again; what changed is not told. */
function followServices(context: Context, stream: EventStream, nodeId: number): void {
  const onError = (err: unknown) => context.log.error({ err }, 'a stream could not tell of services')
  const tell = async () => {
    const revision = await getRevision(context.db)
    if (!stream.isBusy) stream.send({ event: 'services', data: JSON.stringify({ revision }) })
  }
  const throttle = createThrottle(tell, GAP_MS, onError)
  const stop = context.bus.listen((hint) => {
    if (touchesServices(hint, nodeId)) throttle.poke()
  })
  stream.onClose(() => {
    stop()
    throttle.stop()
  })
}

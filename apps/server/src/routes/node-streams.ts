import type { endpoints } from '@postern/contract/endpoints'
import type { Context } from '../context.ts'
import { getNode } from '../core/nodes/nodes.ts'
import { nodeListTopic, nodeTopic } from '../core/nodes/topics.ts'
import type { Topic } from '../core/streams/feeds.ts'
import type { Call } from '../http/route.ts'
import { type EventStream, openStream } from '../http/sse.ts'

/** With `id` one node, else the rows of a list. @throws NotFoundError */
export async function streamNodes(call: Call<typeof endpoints.streamNodes>): Promise<void> {
  const { id, token: _token, ...query } = call.query
  const { context } = call
  if (id === undefined) return followTopic(context, openStream(call), nodeListTopic(context, query))
  await getNode(context, id)
  followTopic(context, openStream(call), nodeTopic(context, id))
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

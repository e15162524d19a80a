import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { Node } from '@postern/contract/nodes'
import { useQueryClient } from '@tanstack/react-query'
import { keyOf, putNewer, useAnswer } from '../api/queries.ts'
import { useStream } from '../api/stream.ts'
import { LOST_STREAM_POLL } from '../util/constants.ts'

/** One node, followed live: each message of its stream replaces it. */
export function useNode(id: number) {
  const queries = useQueryClient()
  const input = { params: { id } }
  const streamState = useStream(endpoints.streamNodes, {
    query: { id },
    reconnect: false,
    onMessage: (data) => {
      const node = Node.safeParse(data)
      if (!node.success)
        return console.error('The stream sent a node that could not be understood', node.error)
      putNewer(queries, keyOf(endpoints.getNode, input), () => node.data)
    },
  })
  const query = useAnswer(endpoints.getNode, input, {
    // A lost stream is not opened again; the figures then update more slowly.
    refetchInterval: streamState === 'lost' && LOST_STREAM_POLL,
  })
  return { query, streamState }
}

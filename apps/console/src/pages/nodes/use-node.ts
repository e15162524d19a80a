import { endpoints } from '@postern/contract/endpoints'
import { Node } from '@postern/contract/nodes'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { apiQuery, keyOf } from '../../api/queries.ts'
import { useStream } from '../../api/stream.ts'
import { refreshServices } from '../../components/service-card/service-cache.ts'
import { LIST_POLL_INTERVAL } from '../../util/constants.ts'

/** One node, followed live: messages replace it, and `services` events ask again for its services. */
export function useNode(id: number) {
  const api = useApi()
  const queries = useQueryClient()
  const input = { params: { id } }
  const streamState = useStream(endpoints.streamNodes, {
    query: { id },
    reconnect: false,
    onMessage: (data, name) => {
      if (name === 'services') return void refreshServices(queries)
      const node = Node.safeParse(data)
      if (!node.success)
        return console.error('The stream sent a node that could not be understood', node.error)
      queries.setQueryData(keyOf(endpoints.getNode, input), node.data)
    },
  })
  const query = useQuery({
    ...apiQuery(api, endpoints.getNode, input),
    // A lost stream is not opened again; the figures then move more slowly.
    refetchInterval: streamState === 'lost' && LIST_POLL_INTERVAL,
  })
  return { query, streamState }
}

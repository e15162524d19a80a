import type { Node } from '@postern/contract/nodes'
import { useEdges } from '../../api/queries.ts'
import { Banner } from '../../ui/feedback/Banner.tsx'

/** The services of the server's own machine are only at the edge beside the server: says so where there are others. */
export function LocalNote({ node }: { node: Pick<Node, 'name'> }) {
  const [beside, ...others] = (useEdges(true).data ?? []).filter(({ isJoined }) => isJoined)
  if (!beside || others.length === 0) return null
  return (
    <Banner kind="info">
      <p>
        Services of <b dir="auto">{node.name}</b> are only at the edge <b dir="auto">{beside.name}</b>:
        visitors at {others.map(({ name }) => name).join(', ')} get an error. For all edges, use a gateway
        node in this machine's network instead.
      </p>
    </Banner>
  )
}

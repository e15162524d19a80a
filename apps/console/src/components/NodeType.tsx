import type { Node } from '@postern/contract/nodes'
import { hasTunnel } from '../api/rules.ts'
import { INSIDE_ROW } from '../ui/data/row-events.ts'
import { Badge } from '../ui/feedback/Badge.tsx'

interface Props {
  node: Pick<Node, 'isLocal' | 'isGateway' | 'gatewayNetworks'>
  /** In a row of a table. */
  inRow?: boolean
}

/** The kind of node, with a tooltip that explains it. */
export function NodeType({ node, inRow }: Props) {
  const stop = inRow ? INSIDE_ROW : {}
  if (!hasTunnel(node))
    return (
      <Badge
        {...stop}
        kind="local"
        tooltip="Created automatically to expose internal services running on this server."
      >
        Local
      </Badge>
    )
  if (!node.isGateway)
    return (
      <Badge {...stop} kind="node" tooltip="This is a standard client and only routes traffic to itself.">
        Node
      </Badge>
    )
  return (
    <Badge {...stop} kind="gateway" tooltip={<GatewayTooltip node={node} />}>
      Gateway
    </Badge>
  )
}

function GatewayTooltip({ node }: Pick<Props, 'node'>) {
  return (
    <>
      {node.gatewayNetworks?.map((network) => (
        <span className="mono" key={`${network.interface} ${network.subnet}`}>
          {network.interface}: {network.subnet}{' '}
        </span>
      ))}
      Forwards traffic to these networks and handles external connections.
    </>
  )
}

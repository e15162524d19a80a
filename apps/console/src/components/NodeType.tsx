import type { Node } from '@postern/contract/nodes'
import { Badge } from '../ui/Badge.tsx'

/** What kind of node it is; the tooltip says what that means. */
export function NodeType({ node }: { node: Node }) {
  if (node.isLocal)
    return (
      <Badge kind="local" tooltip="Created automatically to expose internal services running on this server.">
        Local
      </Badge>
    )
  if (!node.isGateway)
    return (
      <Badge kind="node" tooltip="This is a standard client and only routes traffic to itself.">
        Node
      </Badge>
    )
  return (
    <Badge kind="gateway" tooltip={<GatewayTooltip node={node} />}>
      Gateway
    </Badge>
  )
}

function GatewayTooltip({ node }: { node: Node }) {
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

import type { Node } from '@postern/contract/nodes'
import { Suspense, useState } from 'react'
import type { StreamState } from '../../api/open-stream.ts'
import { LiveMark } from '../../components/LiveMark.tsx'
import { NodeType } from '../../components/NodeType.tsx'
import { NodeDialog } from '../../forms/dialogs.ts'
import { StatusDot } from '../../ui/StatusDot.tsx'
import { NodeMenu } from './NodeMenu.tsx'

interface Props {
  node: Node
  streamState: StreamState
  onChanged: () => void
}

/** Name, addresses and what can be done with the node. */
export function NodeHead({ node, streamState, onChanged }: Props) {
  const [isEditing, setEditing] = useState(false)
  const close = () => {
    setEditing(false)
    onChanged()
  }
  return (
    <header className="head node-head">
      <div>
        <div className="title">
          {!node.isLocal && <StatusDot status={node.status} />}
          <h1>{node.name}</h1>
          {(node.isGateway || node.isLocal) && <NodeType node={node} />}
        </div>
        <dl className="inline">
          <div>
            <dt>IP</dt>
            <dd className="mono">{node.address}</dd>
          </div>
          {node.isGateway && (
            <div>
              <dt>Subnet</dt>
              <dd className="mono">{subnetsText(node)}</dd>
            </div>
          )}
        </dl>
      </div>
      <div className="acts">
        {streamState === 'lost' && <LiveMark state={streamState} />}
        {!node.isLocal && <NodeMenu node={node} onEdit={() => setEditing(true)} onChanged={onChanged} />}
      </div>
      <Suspense>{isEditing && <NodeDialog node={node} onClose={close} />}</Suspense>
    </header>
  )
}

/** Lines break between two networks and, by the unbreakable space, not inside one. */
function subnetsText({ gatewayNetworks }: Node): string {
  return (gatewayNetworks ?? []).map((network) => `${network.interface}:\u00a0${network.subnet}`).join(', ')
}

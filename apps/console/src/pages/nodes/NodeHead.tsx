import type { Node } from '@postern/contract/nodes'
import { Download, Pencil, Power, Trash2 } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useNavigate } from 'react-router'
import { canNameHost, hasTunnel, useRules } from '../../api/rules.ts'
import type { StreamState } from '../../api/stream.ts'
import { LiveMark } from '../../components/LiveMark.tsx'
import { MutedMark } from '../../components/mute/MutedMark.tsx'
import { muteItem } from '../../components/mute/mute-item.ts'
import { NodeDot } from '../../components/NodeDot.tsx'
import { NodeType } from '../../components/NodeType.tsx'
import { NodeWhy } from '../../components/NodeWhy.tsx'
import { useNodeActions } from '../../components/use-node-actions.tsx'
import { NodeDialog } from '../../forms/dialogs.ts'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { urls } from '../../util/urls.ts'
import './NodeHead.css'

interface Props {
  node: Node
  streamState: StreamState
  onChanged: () => void
}

/** Name, addresses and menu of the node. */
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
          {hasTunnel(node) && <NodeDot node={node} />}
          <h1>
            <bdi>{node.name}</bdi>
          </h1>
          {canNameHost(node) && <NodeType node={node} />}
          <MutedMark mute={node.mute} />
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
        <NodeWhy node={node} />
      </div>
      <div className="acts">
        {streamState === 'lost' && <LiveMark state={streamState} />}
        <NodeMenu node={node} onEdit={() => setEditing(true)} onChanged={onChanged} />
      </div>
      <Suspense>{isEditing && <NodeDialog node={node} onClose={close} />}</Suspense>
    </header>
  )
}

/** Lines break between two networks and, by the unbreakable space, not inside one. */
function subnetsText({ gatewayNetworks }: Node): string {
  return (gatewayNetworks ?? []).map((network) => `${network.interface}:\u00a0${network.subnet}`).join(', ')
}

interface MenuProps {
  node: Node
  onEdit: () => void
  onChanged: () => void
}

/** The menu of a node on its own page; after a deletion it goes to the list. */
function NodeMenu({ node, onEdit, onChanged }: MenuProps) {
  const navigate = useNavigate()
  const actions = useNodeActions()
  const can = useRules().node
  const connection = async () => {
    const done = await (node.enabled ? actions.disconnect(node) : actions.connect(node))
    if (done) onChanged()
  }
  const mute = async () => {
    if (await actions.mute(node)) onChanged()
  }
  const remove = async () => {
    if (await actions.remove(node)) await navigate(urls.nodes())
  }
  return (
    <Menu
      label={`Actions for ${node.name}`}
      text="Actions"
      groups={[
        [
          can.edit(node) && { text: 'Edit Node', icon: Pencil, onSelect: onEdit },
          can.download(node) && {
            text: 'Download Config',
            icon: Download,
            onSelect: () => actions.download(node),
          },
        ],
        [can.mute(node) && muteItem(node, mute)],
        [
          can.connect(node) && {
            text: node.enabled ? 'Disconnect' : 'Connect',
            icon: Power,
            onSelect: connection,
          },
          can.remove(node) && { text: 'Delete Node', icon: Trash2, danger: true, onSelect: remove },
        ],
      ]}
    />
  )
}

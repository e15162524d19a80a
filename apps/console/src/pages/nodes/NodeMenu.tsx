import type { Node } from '@postern/contract/nodes'
import { Download, Pencil, Power, Trash2 } from 'lucide-react'
import { useNavigate } from 'react-router'
import { useNodeActions } from '../../components/use-node-actions.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { urls } from '../../util/urls.ts'

interface Props {
  node: Node
  onEdit: () => void
  onChanged: () => void
}

/** What can be done with a node on its own page; after its deletion the list is shown. */
export function NodeMenu({ node, onEdit, onChanged }: Props) {
  const navigate = useNavigate()
  const actions = useNodeActions()
  const connection = async () => {
    const done = await (node.enabled ? actions.disconnect(node) : actions.connect(node))
    if (done) onChanged()
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
          { text: 'Edit Node', icon: Pencil, onSelect: onEdit },
          { text: 'Download Config', icon: Download, onSelect: () => actions.download(node) },
        ],
        [
          { text: node.enabled ? 'Disconnect' : 'Connect', icon: Power, onSelect: connection },
          { text: 'Delete Node', icon: Trash2, danger: true, onSelect: remove },
        ],
      ]}
    />
  )
}

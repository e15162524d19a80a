import type { Node } from '@postern/contract/nodes'
import { Download, Eye, Globe, Pencil, Power, Trash2 } from 'lucide-react'
import { useNavigate } from 'react-router'
import { useNodeActions } from '../../components/use-node-actions.tsx'
import { Menu, type MenuItem } from '../../ui/Menu.tsx'
import { urls } from '../../util/urls.ts'

interface Props {
  node: Node
  onEdit: () => void
  onExpose: () => void
}

/** What can be done with a node of the list; the local one can only be looked at and expose services. */
export function NodeRowMenu({ node, onEdit, onExpose }: Props) {
  const navigate = useNavigate()
  const actions = useNodeActions()
  const own = (...items: MenuItem[]) => (node.isLocal ? [] : items)
  const power: MenuItem = node.enabled
    ? { text: 'Disconnect', icon: Power, onSelect: () => actions.disconnect(node) }
    : { text: 'Connect', icon: Power, onSelect: () => actions.connect(node) }
  return (
    <Menu
      label={`Actions for ${node.name}`}
      groups={[
        [
          { text: 'View Node Details', icon: Eye, onSelect: () => navigate(urls.node(node.id)) },
          ...own({ text: 'Edit Node', icon: Pencil, onSelect: onEdit }),
        ],
        [
          { text: 'Expose HTTP', icon: Globe, onSelect: onExpose },
          ...own({ text: 'Download Config', icon: Download, onSelect: () => actions.download(node) }),
        ],
        own(power, { text: 'Delete Node', icon: Trash2, danger: true, onSelect: () => actions.remove(node) }),
      ]}
    />
  )
}

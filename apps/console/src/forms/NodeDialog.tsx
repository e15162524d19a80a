import type { CreatedNode, Node } from '@postern/contract/nodes'
import { useState } from 'react'
// Not loaded later: the token in it is shown once, and must not be lost to a request that fails.
import { NodeInfoDialog } from '../components/node-info/NodeInfoDialog.tsx'
import { toast } from '../ui/toast.ts'
import { NodeForm } from './NodeForm.tsx'

interface Props {
  /** The node to edit; without one a new node is made. */
  node?: Node | undefined
  /** Gets the node when one was created. */
  onClose: (created?: CreatedNode) => void
}

/** The node form, and after a creation the dialog with the token. */
export function NodeDialog({ node, onClose }: Props) {
  const [created, setCreated] = useState<CreatedNode>()
  if (created) return <NodeInfoDialog node={created} onClose={() => onClose(created)} />
  return (
    <NodeForm
      node={node}
      onClose={() => onClose()}
      onCreated={setCreated}
      onUpdated={() => {
        toast.success('Node updated successfully!')
        onClose()
      }}
    />
  )
}

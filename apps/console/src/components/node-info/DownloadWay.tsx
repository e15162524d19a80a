import type { Node } from '@postern/contract/nodes'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { useNodeActions } from '../use-node-actions.tsx'

/** The other way into the tunnel: a file for any WireGuard client. */
export function DownloadWay({ node }: { node: Node }) {
  const { download } = useNodeActions()
  const [busy, setBusy] = useState(false)
  const fetchFile = async () => {
    setBusy(true)
    await download(node)
    setBusy(false)
  }
  return (
    <div className="way2">
      <p>Import the file into any WireGuard client. It holds a private key.</p>
      <Button icon={Download} busy={busy} onClick={fetchFile}>
        Download Configuration
      </Button>
    </div>
  )
}

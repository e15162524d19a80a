import type { CreatedNode } from '@postern/contract/nodes'
import { useConfig } from '../../hooks/use-config.ts'
import { useLeaveGuard } from '../../hooks/use-leave-guard.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { CopyField } from '../../ui/CopyField.tsx'
import { confirm } from '../../ui/confirm.ts'
import { InfoDialog } from '../../ui/InfoDialog.tsx'
import { ConnectTerminal } from './ConnectTerminal.tsx'
import { DownloadWay } from './DownloadWay.tsx'
import { InstallHint } from './InstallHint.tsx'
import '../../styles/terminal.css'

interface Props {
  node: CreatedNode
  onClose: () => void
}

/** After a creation: the one time that the node's token is shown, and how to use it. */
export function NodeInfoDialog({ node, onClose }: Props) {
  const config = useConfig().data
  useLeaveGuard(true, confirmLeave)
  return (
    <InfoDialog
      title="Your Node is Ready"
      description={
        <>
          <b>{node.name}</b> has the address <span className="mono">{node.address}</span>. Connect it in one
          of two ways.
        </>
      }
      oneTime
      bodyClassName="ways"
      onClose={onClose}
    >
      <section aria-labelledby="way-1">
        <h3 id="way-1">
          <span className="n">1</span>Connect with the CLI<Badge kind="accent">Recommended</Badge>
        </h3>
        <div className="field">
          <span className="label">Node token</span>
          <CopyField label="Node token" value={node.token} />
        </div>
        <Banner kind="warn">
          <p>This token is visible only once. Store it securely.</p>
        </Banner>
        {config && <InstallHint config={config} />}
        {config && <ConnectTerminal config={config} token={node.token} />}
        <p className="hint">
          The token is stored on the machine when the command has run. If it is lost before that, delete this
          node and create it anew.
        </p>
      </section>
      <section aria-labelledby="way-2">
        <h3 id="way-2">
          <span className="n">2</span>Use a tunnel client
        </h3>
        <DownloadWay node={node} />
      </section>
    </InfoDialog>
  )
}

function confirmLeave(): Promise<boolean> {
  return confirm({
    title: 'Leave without the token?',
    description: 'It is visible only once. Copy it first if this node is to connect with the CLI.',
    variant: 'danger',
    cancelButtonText: 'Stay',
    acceptButtonText: 'Leave',
  })
}

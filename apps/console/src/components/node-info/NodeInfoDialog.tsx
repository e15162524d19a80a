import type { Config } from '@postern/contract/config'
import type { CreatedNode, Node } from '@postern/contract/nodes'
import { CircleCheck, Download, Globe } from 'lucide-react'
import { useState } from 'react'
import { useConfig } from '../../api/queries.ts'
import { Button, Spinner } from '../../ui/Button.tsx'
import { CopyButton, CopyField } from '../../ui/CopyButton.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { confirm } from '../../ui/overlay/confirm.ts'
import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import {
  type CommandPart,
  connectCommandText,
  installCommand,
  renderComposeLines,
  renderConnectCommand,
  renderShortConnectCommand,
} from '../../util/node-commands.ts'
import { serverUrls } from '../../util/urls.ts'
import { useLeaveGuard } from '../use-leave-guard.ts'
import { useNode } from '../use-node.ts'
import { useNodeActions } from '../use-node-actions.tsx'
import { Terminal } from './Terminal.tsx'
import './NodeInfoDialog.css'

interface Props {
  node: CreatedNode
  onClose: () => void
  /** Offered once the node is connected. */
  onExpose: () => void
}

/** After a creation: shows the node's token, only this once, and how to use it. */
export function NodeInfoDialog({ node, onClose, onExpose }: Props) {
  const config = useConfig().data
  useLeaveGuard(true, () => confirmLeave(node.name))
  return (
    <InfoDialog
      title="Your Node is Ready"
      description={
        <>
          <b>{node.name}</b> has the address <span className="mono">{node.address}</span>. Connect it in one
          of {node.isGateway ? 'three' : 'two'} ways.
        </>
      }
      oneTime
      bodyClassName="ways"
      onClose={onClose}
    >
      <section aria-labelledby="way-1">
        <h3 id="way-1">
          Connect with the CLI<Badge kind="accent">Recommended</Badge>
        </h3>
        <ol className="connect-steps">
          <li>
            <h4>Install the CLI as root on that machine</h4>
            {config && <InstallStep config={config} />}
          </li>
          <li>
            <h4>Connect the machine</h4>
            <div className="field">
              <span className="label">Node token</span>
              <CopyField label="Node token" value={node.token} />
            </div>
            <Banner kind="warn">
              <p>This token is visible only once. Store it securely.</p>
            </Banner>
            {config && <ConnectTerminal config={config} node={node} />}
            <Arrival node={node} onExpose={onExpose} />
            {config && <ShortCommand config={config} node={node} />}
            <p className="hint">
              The command stores the token on the machine. If you lose it, generate a new one on the node's
              page.
            </p>
          </li>
        </ol>
      </section>
      {node.isGateway && config && (
        <section aria-labelledby="way-docker">
          <h3 id="way-docker">Run it with Docker</h3>
          <DockerWay config={config} node={node} />
        </section>
      )}
      <section aria-labelledby="way-2">
        <h3 id="way-2">Use a tunnel client</h3>
        <DownloadWay node={node} />
      </section>
    </InfoDialog>
  )
}

function confirmLeave(name: string): Promise<boolean> {
  return confirm({
    title: 'Leave without the token?',
    description: (
      <>
        The token of <b>{name}</b> is visible only once. Copy it first if this node is to connect with the
        CLI.
      </>
    ),
    variant: 'danger',
    cancelButtonText: 'Stay',
    acceptButtonText: 'Leave',
  })
}

function InstallStep({ config }: { config: Config }) {
  const command = installCommand(config)
  if (command !== null) return <CopyField oneLine label="Install command" value={command} />
  return (
    <p>
      This installation was started without the CLI. The{' '}
      <a href={serverUrls.cli()} target="_blank" rel="noreferrer">
        documentation
      </a>{' '}
      explains how to build it.
    </p>
  )
}

/** Waits for the node, and shows when and from where it has connected. */
function Arrival({ node, onExpose }: Omit<Props, 'onClose'>) {
  const { data } = useNode(node.id).query
  const isHere = data !== undefined && data.status !== 'offline'
  return (
    <div className={isHere ? 'arrival here' : 'arrival'}>
      <p role="status">
        {isHere ? <CircleCheck className="ic" /> : <Spinner />}
        {isHere ? (
          <span>
            Connected{data.clientIp !== null && ' from '}
            <span className="mono">{data.clientIp}</span>
          </span>
        ) : (
          `Waiting for ${node.name}…`
        )}
      </p>
      {isHere && (
        <Button variant="primary" icon={Globe} onClick={onExpose}>
          Expose a service
        </Button>
      )}
    </div>
  )
}

const RESULTS = ['Configuring postern...', 'Connecting node...', 'Connection established!']

/** The command as a demo with the token hidden; the copy has the real one. */
function ConnectTerminal({ config, node }: { config: Config; node: CreatedNode }) {
  const parts = renderConnectCommand(location.origin, config, node)
  return (
    <Terminal
      command={<CommandLine parts={parts} />}
      results={RESULTS}
      action={
        <CopyButton
          size="sm"
          variant="ghost"
          text="Copy command"
          label="Copy command"
          value={connectCommandText(parts, node.token)}
        />
      }
    />
  )
}

/** The command with the token as an option, for a machine with no other users. */
function ShortCommand({ config, node }: { config: Config; node: CreatedNode }) {
  const parts = renderShortConnectCommand(location.origin, config, node)
  return (
    <div className="field">
      <span className="label">Shorter, but other users of that machine can see the token while it runs</span>
      <div className="secret">
        <code className="input mono">
          <CommandLine parts={parts} />
        </code>
        <CopyButton value={connectCommandText(parts, node.token)} label="Copy short command" />
      </div>
    </div>
  )
}

const LOOKS = { text: undefined, flag: 'fl', secret: 'se' } as const

/** A command in its colours. */
function CommandLine({ parts }: { parts: readonly CommandPart[] }) {
  return parts.map(({ kind, text }) => (
    <span key={text} className={LOOKS[kind]}>
      {text}
    </span>
  ))
}

/** The agent in a container, which publishes neighbouring containers. */
function DockerWay({ config, node }: { config: Config; node: CreatedNode }) {
  return (
    <>
      <p>
        Put these lines at the top of the{' '}
        <a href={serverUrls.dockerGateway()} target="_blank" rel="noreferrer">
          gateway's compose file
        </a>
        , and start it with <code>docker compose up -d</code>.
      </p>
      <CopyField label="Compose lines" value={renderComposeLines(location.origin, config, node)} />
    </>
  )
}

/** The other way into the tunnel: a file for any WireGuard client. */
function DownloadWay({ node }: { node: Node }) {
  const { download } = useNodeActions()
  const [busy, setBusy] = useState(false)
  const fetchFile = async () => {
    setBusy(true)
    await download(node)
    setBusy(false)
  }
  return (
    <div className="way2">
      <p>Import the file into any WireGuard client. It contains a private key.</p>
      <Button icon={Download} busy={busy} onClick={fetchFile}>
        Download Configuration
      </Button>
    </div>
  )
}

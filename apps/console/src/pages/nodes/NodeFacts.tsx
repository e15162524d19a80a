import type { Node } from '@postern/contract/nodes'
import { Bytes } from '../../ui/Bytes.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'

/** What the tunnel shows of a node. */
export function NodeFacts({ node }: { node: Node }) {
  return (
    <dl className="facts">
      <div>
        <dt>Client IP</dt>
        <dd className="mono">{node.clientIp ?? <span className="none">-</span>}</dd>
      </div>
      <div>
        <dt>Latest Handshake</dt>
        <dd>
          <RelativeTime time={node.latestHandshakeTimestamp} />
        </dd>
      </div>
      <div>
        <dt>Transmitted</dt>
        <dd>
          <Bytes bytes={node.transferTx} />
        </dd>
      </div>
      <div>
        <dt>Received</dt>
        <dd>
          <Bytes bytes={node.transferRx} />
        </dd>
      </div>
      <div>
        <dt>Send all internet traffic through the VPN</dt>
        <dd>{node.allowInternet ? 'Yes' : 'No'}</dd>
      </div>
    </dl>
  )
}

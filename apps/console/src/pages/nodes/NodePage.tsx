import type { Node } from '@postern/contract/nodes'
import { ServiceType } from '@postern/contract/services/services'
import { useParams } from 'react-router'
import { hasTunnel } from '../../api/rules.ts'
import { ChartCard } from '../../components/chart/ChartCard.tsx'
import { isMissing, RecordError } from '../../components/ErrorPages.tsx'
import { HistoryCard } from '../../components/history/HistoryCard.tsx'
import { Page } from '../../components/Page.tsx'
import { ServiceCard } from '../../components/service-card/ServiceCard.tsx'
import { TokenCard } from '../../components/tokens/TokenCard.tsx'
import { useNode } from '../../components/use-node.ts'
import { Bytes, RelativeTime } from '../../ui/data/Figures.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { urls } from '../../util/urls.ts'
import { NodeHead } from './NodeHead.tsx'
import './NodePage.css'

const WAY = { text: 'Client / Nodes', to: urls.nodes() }

export function NodePage() {
  const id = Number(useParams().id)
  const { query, streamState } = useNode(id)
  const node = query.data
  if (node && !isMissing(query.error))
    return (
      <Page key={id} title={node.name} crumbs={[WAY, { text: node.name }]} className="node-page">
        <NodeHead node={node} streamState={streamState} onChanged={() => query.refetch()} />
        {hasTunnel(node) && <NodeFacts node={node} />}
        {hasTunnel(node) && <TokenCard node={node} />}
        {ServiceType.options.map((type) => (
          <ServiceCard key={type} node={node} type={type} />
        ))}
        <ChartCard of={{ kind: 'node', id }} name={node.name} />
        <HistoryCard name={node.name} query={{ node: String(id) }} />
      </Page>
    )
  return (
    <Page title="Node" crumbs={[WAY, { text: 'Node' }]} className="node-page">
      <h1 className="sr">Node</h1>
      {query.isError ? <RecordError query={query} what="node" back={WAY} /> : <NodeSkeleton />}
    </Page>
  )
}

/** The tunnel's data about a node. */
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
      <div>
        <dt>Agent May Publish Services</dt>
        <dd>{node.agentMayPublish ? 'Yes' : 'No'}</dd>
      </div>
    </dl>
  )
}

const FACTS = ['client', 'handshake', 'transmitted', 'received', 'internet', 'publish']

/** The page of a node while it loads, with the same heights. */
function NodeSkeleton() {
  return (
    <div className="node-page" aria-busy="true">
      <div className="head node-head waiting">
        <Skeleton width={18} />
      </div>
      <div className="facts">
        {FACTS.map((fact) => (
          <div key={fact}>
            <Skeleton width={60} />
          </div>
        ))}
      </div>
      <div className="card waiting">
        <Skeleton width={12} />
      </div>
    </div>
  )
}

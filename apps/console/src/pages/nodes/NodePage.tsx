import { Link, useParams } from 'react-router'
import { Page } from '../../components/Page.tsx'
import { isMissing, RecordError } from '../../components/RecordError.tsx'
import { ServiceCard } from '../../components/service-card/ServiceCard.tsx'
import { urls } from '../../util/urls.ts'
import { NodeFacts } from './NodeFacts.tsx'
import { NodeHead } from './NodeHead.tsx'
import { NodeSkeleton } from './NodeSkeleton.tsx'
import { useNode } from './use-node.ts'
import '../../styles/node.css'

const WAY = { text: 'Client / Nodes', to: urls.nodes() }

export function NodePage() {
  const id = Number(useParams().id)
  const { query, streamState } = useNode(id)
  const node = query.data
  if (node && !isMissing(query.error))
    return (
      <Page key={id} title={node.name} crumbs={[WAY, { text: node.name }]} className="node-page">
        <NodeHead node={node} streamState={streamState} onChanged={() => query.refetch()} />
        {!node.isLocal && <NodeFacts node={node} />}
        <ServiceCard node={node} />
      </Page>
    )
  return (
    <Page title="Node" crumbs={[WAY, { text: 'Node' }]} className="node-page">
      <h1 className="sr">Node</h1>
      {query.isError ? (
        <div className="panel">
          <RecordError
            error={query.error}
            what="node"
            busy={query.isFetching}
            onRetry={() => query.refetch()}
            back={
              <Link className="btn" to={urls.nodes()}>
                Client / Nodes
              </Link>
            }
          />
        </div>
      ) : (
        <NodeSkeleton />
      )}
    </Page>
  )
}

import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Service } from '@postern/contract/services/services'
import { Link } from 'react-router'
import { useAnswer } from '../../api/queries.ts'
import { urls } from '../../util/urls.ts'
import { PublicAccess } from './ServiceFacts.tsx'

/** The heading of a page about one service: its name, its address and its node. */
export function ServiceTitle({ service }: { service: Service }) {
  const node = useAnswer(endpoints.getNode, { params: { id: service.nodeId } }).data
  return (
    <div className="title">
      <h1>
        <bdi>{service.name}</bdi>
      </h1>
      <span className="sub">
        <PublicAccess service={service} />
      </span>
      {node && (
        <span className="sub">
          on{' '}
          <Link to={urls.node(node.id)} dir="auto">
            {node.name}
          </Link>
        </span>
      )}
    </div>
  )
}

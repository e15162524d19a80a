import type { ShownRequest } from '@postern/contract/requests/query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import { formatBytes } from '../../util/bytes.ts'
import { formatMoment } from '../../util/time.ts'
import { serviceRowUrl, urls } from '../../util/urls.ts'
import type { Filters } from './filters.ts'
import { askedText, durationText, ResultBadge, reasonText } from './RequestCells.tsx'
import '../../components/service-card/ServiceInfoDialog.css'

interface Props {
  request: ShownRequest
  filters: Filters
  onClose: () => void
}

/** Everything that is known of a request. */
export function RequestDialog({ request, filters, onClose }: Props) {
  const { service, serviceId, source, person, query, target, type } = request
  const only = (change: Filters, words: string) => (
    <Link className="only" to={urls.requests({ ...filters, ...change })} onClick={onClose}>
      {words}
    </Link>
  )
  return (
    <InfoDialog
      title={type === 'http' ? 'Request' : 'Connection'}
      description={`Ended ${formatMoment(request.at)}`}
      closeText="Close"
      onClose={onClose}
    >
      <dl className="info-list">
        <Row name={type === 'http' ? 'Request' : 'Connection'} mono>
          {askedText(request)}
        </Row>
        <Row name="Query" mono>
          {query}
        </Row>
        <Row name="Result">
          <Result request={request} />
        </Row>
        <Row name="Service">
          {service ? (
            <Link to={serviceRowUrl(service)} dir="auto">
              {service.name}
            </Link>
          ) : (
            `Deleted service ${serviceId}`
          )}
          {only({ service: String(serviceId) }, 'Only this service')}
          {service && (
            <Link className="only" to={urls.serviceTraffic(service, request.at)}>
              Traffic at this moment
            </Link>
          )}
        </Row>
        <Row name="Node">
          {service && (
            <Link to={urls.node(service.nodeId)} dir="auto">
              {service.nodeName}
            </Link>
          )}
        </Row>
        <Row name="Domain" mono>
          {service?.domain}
        </Row>
        <Row name="Visitor">
          <span className="mono">{source}</span>
          {only({ source }, 'Only this visitor')}
        </Row>
        <Row name="Signed in as">
          {person !== null && (
            <>
              {person}
              {only({ person }, 'Only this person')}
            </>
          )}
        </Row>
        <Row name="Sent to" mono>
          {target}
        </Row>
        <Row name="Received">{formatBytes(request.received)}</Row>
        <Row name="Sent">{formatBytes(request.sent)}</Row>
        <Row name="Connecting took">{durationText(request.connect)}</Row>
        <Row name="Answering took">{type === 'http' && durationText(request.response)}</Row>
        <Row name="In all">{durationText(request.total)}</Row>
        <Row name="Edge">{request.edge}</Row>
      </dl>
    </InfoDialog>
  )
}

interface RowProps {
  name: string
  mono?: boolean
  /** What is not known has no row. */
  children: ReactNode
}

function Row({ name, mono, children }: RowProps) {
  if (children === null || children === undefined || children === false) return null
  return (
    <div>
      <dt>{name}</dt>
      <dd className={mono ? 'mono' : undefined}>{children}</dd>
    </div>
  )
}

function Result({ request }: { request: ShownRequest }) {
  const reason = reasonText(request)
  return (
    <>
      <ResultBadge request={request} />
      {reason !== null && <p className="hint">Because {reason}</p>}
    </>
  )
}

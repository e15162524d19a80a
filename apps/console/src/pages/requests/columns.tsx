import type { ShownRequest } from '@postern/contract/requests/query'
import { OPENS_ROW } from '../../ui/data/row-events.ts'
import type { Column } from '../../ui/data/Table.tsx'
import { formatMoment } from '../../util/time.ts'
import { askedText, clockText, durationText, ResultBadge, reasonText } from './RequestCells.tsx'

/** @param open shows one as a whole */
export function columnsFor(open: (request: ShownRequest) => void): readonly Column<ShownRequest>[] {
  return [
    {
      head: 'Time',
      width: 'w-time',
      className: 'tn c-full',
      render: ({ at }) => (
        <time dateTime={new Date(at).toISOString()} title={formatMoment(at)}>
          {clockText(at)}
        </time>
      ),
    },
    {
      head: 'Request',
      width: 'w-30',
      className: 'c-name c-asked',
      render: (request) => (
        <button type="button" className="asked mono" {...OPENS_ROW} onClick={() => open(request)}>
          {askedText(request)}
        </button>
      ),
    },
    {
      head: 'Service',
      width: 'w-15',
      className: 'c-service',
      label: 'Service',
      render: ({ service, serviceId }) =>
        service ? <bdi>{service.name}</bdi> : <span className="sub">Deleted service {serviceId}</span>,
    },
    { head: 'Result', className: 'c-full', render: (request) => <Result request={request} /> },
    {
      head: 'Visitor',
      width: 'w-20',
      className: 'c-visitor',
      label: 'Visitor',
      render: ({ source, person }) => (
        <>
          <span className="mono">{source}</span>
          {person !== null && <span className="sub person">{person}</span>}
        </>
      ),
    },
    {
      head: 'Took',
      width: 'w-took',
      className: 'tn r c-took',
      label: 'Took',
      render: ({ total }) => durationText(total),
    },
  ]
}

function Result({ request }: { request: ShownRequest }) {
  const reason = reasonText(request)
  return (
    <span className="result">
      <ResultBadge request={request} />
      {reason !== null && <span className="sub">{reason}</span>}
    </span>
  )
}

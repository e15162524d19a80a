import type { ListParams } from '../../table/list-params.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'

interface Props {
  params: ListParams
  onParams: (change: Partial<ListParams>) => void
}

/** There may be nodes, but none for this filter and search. */
export function NothingMatches({ params: { search, type }, onParams }: Props) {
  const viewAll = <Button onClick={() => onParams({ type: '' })}>View All</Button>
  if (search === '')
    return (
      <EmptyState door="dashed" title="No gateways yet" text="No node acts as a network gateway.">
        {viewAll}
      </EmptyState>
    )
  const kind = type === 'gateways' ? 'gateway' : 'node'
  return (
    <EmptyState
      door="dashed"
      title={`Nothing matches “${search}”`}
      text={`No ${kind} has this in its name or address.`}
    >
      <Button onClick={() => onParams({ search: '' })}>Clear search</Button>
      {type !== '' && viewAll}
    </EmptyState>
  )
}

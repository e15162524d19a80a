import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Attention } from '@postern/contract/overview'
import { Link } from 'react-router'
import { AttentionText, attentionUrl, ProblemText } from '../../components/attention/attention.tsx'
import { useEndings } from '../../components/attention/use-attention.ts'
import { Page } from '../../components/Page.tsx'
import { ListFilters } from '../../table/ListFilters.tsx'
import { usePageParams } from '../../table/list-params.ts'
import { NothingMatches, QueryTable } from '../../table/QueryTable.tsx'
import { type List, useList } from '../../table/use-list.ts'
import { Button } from '../../ui/Button.tsx'
import { OPENS_ROW } from '../../ui/data/row-events.ts'
import type { Column } from '../../ui/data/Table.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import './AttentionPage.css'

const TYPES = [
  { value: '', text: 'View All' },
  { value: 'service', text: 'Services' },
  { value: 'node', text: 'Nodes' },
  { value: 'certificate', text: 'Certificates' },
] as const

const KINDS = { edge: 'Edge', node: 'Node', service: 'Service', certificate: 'Certificate' } as const

const COLUMNS: readonly Column<Attention>[] = [
  {
    head: 'Name',
    width: 'w-38',
    className: 'c-name',
    render: (row) => (
      <>
        <Name row={row} />{' '}
        <span className="sub">
          <AttentionText row={row} />
        </span>
      </>
    ),
  },
  { head: 'Type', width: 'w-12', className: 'c-badge sub', render: ({ kind }) => KINDS[kind] },
  {
    head: 'Problem',
    className: 'c-full',
    render: (row) => (
      <p className={`trouble ${row.tone}`}>
        <ProblemText row={row} />
      </p>
    ),
  },
]

/** Everything that needs a person, worst first. */
export function AttentionPage() {
  useEndings(true)
  const list = useList({ endpoint: endpoints.listAttention, state: usePageParams() })
  return (
    <Page title="Needs Attention">
      <header className="head">
        <h1>Needs Attention</h1>
      </header>
      <ListFilters list={list} types={TYPES} noun="problems" placeholder="Search name or problem" />
      <QueryTable
        className="attention"
        caption="Needs Attention"
        noun="problems"
        list={list}
        columns={COLUMNS}
        empty={<EmptyState door="ajar" title="Nothing needs your attention" text={CALM} />}
        noMatch={<NoMatch list={list} />}
      />
    </Page>
  )
}

const CALM = 'Services that fail, nodes that are lost and certificates that cannot be renewed appear here.'

function Name({ row }: { row: Attention }) {
  const to = attentionUrl(row)
  if (to === undefined) return <b dir="auto">{row.name}</b>
  return (
    <Link {...OPENS_ROW} to={to} dir="auto">
      {row.name}
    </Link>
  )
}

function NoMatch({ list }: { list: List<Attention> }) {
  const { search, type } = list.params
  const viewAll = type !== '' && <Button onClick={() => list.change({ type: '' })}>View All</Button>
  if (search !== '')
    return (
      <NothingMatches list={list} text="No problems match.">
        {viewAll}
      </NothingMatches>
    )
  return (
    <EmptyState door="ajar" title="Nothing here needs your attention" text="Choose View All to see the rest.">
      {viewAll}
    </EmptyState>
  )
}

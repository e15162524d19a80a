import type { Edge } from '@postern/contract/edge/edge'
import type { JoinToken } from '@postern/contract/edge/join'
import { edges as endpoints } from '@postern/contract/endpoints/edges'
import { Plus } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { useConfig, useEdges } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { useEdgeActions } from '../../components/edges/use-edge-actions.tsx'
import { Page } from '../../components/Page.tsx'
import { TrafficRows } from '../../components/traffic/traffic.tsx'
import { EdgeDialog } from '../../forms/dialogs.ts'
import { AnswerTable } from '../../table/AnswerTable.tsx'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { serverUrls } from '../../util/urls.ts'
import { columnsFor } from './columns.tsx'
import './EdgesPage.css'

const JoinDialog = lazy(async () => ({
  default: (await import('../../forms/edges/JoinDialog.tsx')).JoinDialog,
}))

type Open = { form: Edge | undefined } | { edge: Edge; join: JoinToken } | null

/** The machines that answer visitors. */
export function EdgesPage() {
  const edges = useEdges(true)
  const config = useConfig().data
  const mayChange = useRules().may(endpoints.addEdge)
  const [open, setOpen] = useState<Open>(null)
  const showJoin = useCallback((edge: Edge, join: JoinToken) => setOpen({ edge, join }), [])
  const actions = useEdgeActions(showJoin)
  const [publicHost, version] = [config?.VPN_HOST ?? '', config?.version ?? '']
  const columns = useMemo(
    () => columnsFor({ publicHost, version }, mayChange ? actions : undefined, (form) => setOpen({ form })),
    [publicHost, version, mayChange, actions],
  )
  const close = () => setOpen(null)
  const add = mayChange && (
    <Button variant="primary" icon={Plus} onClick={() => setOpen({ form: undefined })}>
      Add Edge
    </Button>
  )
  const isAlone = edges.data?.length === 1
  return (
    <Page title="Edges" className="edges-page">
      <header className="head">
        <div>
          <h1>Edges</h1>
          <p className="lead">The machines that answer your visitors</p>
        </div>
        <div className="acts">{!isAlone && add}</div>
      </header>
      <TrafficRows of="edges" rows={edges.data}>
        <AnswerTable answer={edges} caption="Edges" noun="edges" columns={columns} />
      </TrafficRows>
      {isAlone && (
        <div className="panel alone">
          <EmptyState
            door="ajar"
            title="One machine answers all visitors"
            text={
              <>
                With a second edge your services stay reachable when this machine is down, and visitors can be
                answered nearer to where they are. It needs a machine of its own with an address that visitors
                reach. What sends them to one or the other stays yours: a floating address, a balancer, or DNS
                with health checks.{' '}
                <a href={serverUrls.severalEdges()} target="_blank" rel="noreferrer">
                  Several edges
                </a>
              </>
            }
          >
            {add}
          </EmptyState>
        </div>
      )}
      <Suspense>
        {open && 'form' in open && <EdgeDialog edge={open.form} onClose={close} />}
        {open && 'join' in open && <JoinDialog {...open} onClose={close} />}
      </Suspense>
    </Page>
  )
}

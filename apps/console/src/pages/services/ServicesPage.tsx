import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Node } from '@postern/contract/nodes'
import type { Service } from '@postern/contract/services/services'
import { lazy, Suspense, useCallback, useState } from 'react'
import { Link } from 'react-router'
import { useApi } from '../../api/context.ts'
import { useRules } from '../../api/rules.ts'
import { attempt } from '../../components/ask.ts'
import { ServicesBar } from '../../components/many/bars.ts'
import { Page } from '../../components/Page.tsx'
import { INGRESS, SORTED_NAME, STATE, useServiceMenu } from '../../components/service-card/ServiceTable.tsx'
import { TrafficCell, TrafficRows } from '../../components/traffic/traffic.tsx'
import { ServiceDialog } from '../../forms/dialogs.ts'
import { usePageParams } from '../../table/list-params.ts'
import { QueryTable } from '../../table/QueryTable.tsx'
import { type List, useList } from '../../table/use-list.ts'
import { useSelection } from '../../table/use-selection.ts'
import { Button } from '../../ui/Button.tsx'
import { INSIDE_ROW } from '../../ui/data/row-events.ts'
import type { Column } from '../../ui/data/Table.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { urls } from '../../util/urls.ts'
import { FILTERS, ServiceFilters } from './ServiceFilters.tsx'
import './ServicesPage.css'

const ServiceInfoDialog = lazy(async () => ({
  default: (await import('../../components/service-card/ServiceInfoDialog.tsx')).ServiceInfoDialog,
}))

const COLUMNS: readonly Column<Service>[] = [
  SORTED_NAME,
  INGRESS,
  {
    head: 'Node',
    width: 'w-12',
    label: 'Node',
    className: 'c-node',
    render: ({ nodeId, nodeName }) => (
      <Link {...INSIDE_ROW} to={urls.node(nodeId)} dir="auto">
        {nodeName}
      </Link>
    ),
  },
  {
    head: 'Sign-in',
    width: 'w-sign-in',
    label: 'Sign-in',
    className: 'c-sign-in',
    render: (service) =>
      service.type === 'http' && service.requireAuth ? 'Required' : <span className="none">-</span>,
  },
  {
    head: 'Last 24 Hours',
    width: 'w-carried',
    label: 'Last 24 Hours',
    className: 'c-carried',
    render: (service) => <TrafficCell id={service.id} to={urls.serviceTraffic(service)} />,
  },
  STATE,
]

const isTickable = ({ system }: Service) => !system

type Open = { info: Service } | { edit: Service; node: Node } | null

/** The services of all nodes. */
export function ServicesPage() {
  const [open, setOpen] = useState<Open>(null)
  const list = useList({ endpoint: endpoints.listAllServices, state: usePageParams(FILTERS) })
  const selection = useSelection({ list, allows: isTickable })
  const renderMenu = useMenu(setOpen)
  const canTick = useRules().many.services
  const close = () => setOpen(null)
  return (
    <Page title="Services">
      <header className="head">
        <h1>Services</h1>
      </header>
      <ServiceFilters list={list} />
      <TrafficRows of="services" rows={list.query.data?.data}>
        <QueryTable
          className="svcs all-svcs"
          caption="Services"
          noun="services"
          list={list}
          columns={COLUMNS}
          renderMenu={renderMenu}
          selection={canTick ? selection : undefined}
          empty={
            <EmptyState
              door="ajar"
              title="No services yet"
              text="Open a node and publish what runs there. The services of all nodes appear here."
            >
              <Link className="btn primary" to={urls.nodes()}>
                Client / Nodes
              </Link>
            </EmptyState>
          }
          noMatch={<NoMatch list={list} />}
        />
      </TrafficRows>
      <Suspense>
        {selection.count > 0 && <ServicesBar list={list} selection={selection} />}
        {open && 'info' in open && <ServiceInfoDialog service={open.info} onClose={close} />}
        {open && 'edit' in open && (
          <ServiceDialog node={open.node} type={open.edit.type} service={open.edit} onClose={close} />
        )}
      </Suspense>
    </Page>
  )
}

/** A form needs the node, which the row does not have. */
function useMenu(onOpen: (open: Open) => void) {
  const api = useApi()
  const info = useCallback((service: Service) => onOpen({ info: service }), [onOpen])
  const edit = useCallback(
    (service: Service) =>
      void attempt(async () => {
        const node = await api.call(endpoints.getNode, { params: { id: service.nodeId } })
        onOpen({ edit: service, node })
      }),
    [api, onOpen],
  )
  return useServiceMenu(info, edit, true)
}

function NoMatch({ list: { params, change } }: { list: List<Service> }) {
  const clear = () => change({ search: '', filters: Object.fromEntries(FILTERS.map((name) => [name, ''])) })
  const title = params.search === '' ? 'No services match' : `Nothing matches “${params.search}”`
  return (
    <EmptyState door="dashed" title={title} text="No service of any node fits the search and the filters.">
      <Button onClick={clear}>Clear search and filters</Button>
    </EmptyState>
  )
}

import type { HttpService } from '@postern/contract/services'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { wordsForError } from '../../api/api-error.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorPanel } from '../../ui/ErrorPanel.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Table } from '../../ui/Table.tsx'
import { urls } from '../../util/urls.ts'
import { serviceColumns } from './service-columns.tsx'
import { serviceMenu } from './service-menu.ts'
import type { useNodeServices } from './use-node-services.ts'
import { useServiceActions } from './use-service-actions.ts'

interface Props {
  services: ReturnType<typeof useNodeServices>
  /** The button that adds the first service. */
  add: ReactNode
  onInfo: (service: HttpService) => void
  onEdit: (service: HttpService) => void
}

/** The rows of the card, or what there is instead of rows. */
export function ServiceRows({ services: { list, page, setPage }, add, onInfo, onEdit }: Props) {
  if (list.isError && !list.data)
    return (
      <ErrorPanel
        title="The services could not be loaded"
        text={wordsForError(list.error)}
        busy={list.isFetching}
        onRetry={() => list.refetch()}
      />
    )
  if (list.data?.total === 0)
    return (
      <EmptyState
        door="ajar"
        title="No HTTP services yet"
        text="Publish a web service of this node under a domain or a path."
      >
        {add}
      </EmptyState>
    )
  return (
    <>
      <ServiceTable rows={list.data?.data} onInfo={onInfo} onEdit={onEdit} />
      {list.data && <Pager page={page} limit={list.data.limit} total={list.data.total} onPage={setPage} />}
    </>
  )
}

type TableProps = Pick<Props, 'onInfo' | 'onEdit'> & { rows: HttpService[] | undefined }

function ServiceTable({ rows, onInfo, onEdit }: TableProps) {
  const navigate = useNavigate()
  const actions = useServiceActions()
  const columns = serviceColumns((service) => (
    <Menu
      label={`Actions for ${service.name}`}
      groups={serviceMenu(service, {
        info: () => onInfo(service),
        logs: () => navigate(urls.serviceLogs(service.nodeId, 'http', service.id)),
        edit: () => onEdit(service),
        enable: () => actions.enable(service),
        disable: () => actions.disable(service),
        remove: () => actions.remove(service),
      })}
    />
  ))
  return (
    <Table
      className="svcs"
      caption="HTTP Services"
      columns={columns}
      rows={rows}
      rowKey={(service) => service.id}
      skeletonRows={2}
    />
  )
}

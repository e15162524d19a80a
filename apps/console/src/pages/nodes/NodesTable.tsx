import type { Node } from '@postern/contract/nodes'
import { Plus } from 'lucide-react'
import { Suspense, useMemo, useState } from 'react'
import { wordsForError } from '../../api/api-error.ts'
import { HttpServiceDialog, NodeDialog } from '../../forms/dialogs.ts'
import type { ListParams } from '../../table/list-params.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorPanel } from '../../ui/ErrorPanel.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Table } from '../../ui/Table.tsx'
import { NodeRowMenu } from './NodeRowMenu.tsx'
import { NothingMatches } from './NothingMatches.tsx'
import { nodeColumns } from './node-columns.tsx'
import type { useNodes } from './use-nodes.ts'

interface Props {
  nodes: ReturnType<typeof useNodes>
  params: ListParams
  onParams: (change: Partial<ListParams>) => void
  onAdd: () => void
}

type Open = { kind: 'edit' | 'expose'; node: Node } | null

/** The rows, or what there is instead of rows. */
export function NodesTable({ nodes, params, onParams, onAdd }: Props) {
  const [open, setOpen] = useState<Open>(null)
  const columns = useMemo(
    () =>
      nodeColumns((node) => (
        <NodeRowMenu
          node={node}
          onEdit={() => setOpen({ kind: 'edit', node })}
          onExpose={() => setOpen({ kind: 'expose', node })}
        />
      )),
    [],
  )
  const close = () => setOpen(null)
  const page = nodes.data
  return (
    <>
      <div className="panel">
        {page === undefined && nodes.isError ? (
          <ErrorPanel
            title="The nodes could not be loaded"
            text={wordsForError(nodes.error)}
            busy={nodes.isFetching}
            onRetry={() => nodes.refetch()}
          />
        ) : (
          <>
            {page?.total !== 0 && (
              <Table
                className="nodes"
                caption="Nodes"
                columns={columns}
                rows={page?.data}
                rowKey={(node) => node.id}
                sort={params.sort}
                onSort={(sort) => onParams({ sort })}
              />
            )}
            {page && hasNoNode(page, params) && <NoNodes params={params} onParams={onParams} onAdd={onAdd} />}
          </>
        )}
      </div>
      {page && (
        <Pager
          page={params.page}
          limit={page.limit}
          total={page.total}
          onPage={(next) => onParams({ page: next })}
        />
      )}
      <Suspense>
        {open?.kind === 'edit' && <NodeDialog node={open.node} onClose={close} />}
        {open?.kind === 'expose' && <HttpServiceDialog node={open.node} onClose={close} />}
      </Suspense>
    </>
  )
}

/** The local node is always there and is none that a person added. */
function hasNoNode({ data, total }: { data: Node[]; total: number }, { search }: ListParams): boolean {
  return total === 0 || (search === '' && total === 1 && data.every((node) => node.isLocal))
}

function NoNodes({ params, onParams, onAdd }: Omit<Props, 'nodes'>) {
  if (params.search !== '' || params.type !== '')
    return <NothingMatches params={params} onParams={onParams} />
  return (
    <EmptyState
      door="ajar"
      title="No nodes yet"
      text="You haven't added any node yet. Once you add nodes, they will appear here for easy management."
    >
      <Button variant="primary" icon={Plus} onClick={onAdd}>
        Add Node
      </Button>
    </EmptyState>
  )
}

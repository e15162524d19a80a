import { endpoints } from '@postern/contract/console-endpoints'
import { Node } from '@postern/contract/nodes'
import { ServiceType } from '@postern/contract/services'
import { ArrowLeftRight, Download, Eye, Globe, Pencil, Plus, Power, Trash2 } from 'lucide-react'
import { Suspense, useCallback, useState } from 'react'
import { Link, type NavigateFunction, useNavigate } from 'react-router'
import * as z from 'zod/mini'
import { LiveMark } from '../../components/LiveMark.tsx'
import { DOT_READS, NodeDot } from '../../components/NodeDot.tsx'
import { NodeType } from '../../components/NodeType.tsx'
import { Page } from '../../components/Page.tsx'
import { typeName } from '../../components/service-card/service-text.ts'
import { type NodeActions, useNodeActions } from '../../components/use-node-actions.tsx'
import { NodeDialog, ServiceDialog } from '../../forms/dialogs.ts'
import { ListFilters } from '../../table/ListFilters.tsx'
import { usePageParams } from '../../table/list-params.ts'
import { NothingMatches, QueryTable } from '../../table/QueryTable.tsx'
import { type List, useList } from '../../table/use-list.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Kilobytes, RelativeTime } from '../../ui/Figures.tsx'
import { Menu } from '../../ui/Menu.tsx'
import type { MenuItem } from '../../ui/OpenMenu.tsx'
import { OPENS_ROW } from '../../ui/row-events.ts'
import { type Column, cellsOf } from '../../ui/Table.tsx'
import { urls } from '../../util/urls.ts'
import './NodesPage.css'

const TYPES = [
  { value: '', text: 'View All' },
  { value: 'nodes', text: 'Nodes' },
  { value: 'gateways', text: 'Gateways' },
] as const
const EXPOSE_ICONS = { http: Globe, tcp: ArrowLeftRight } as const
const LIVE = { stream: endpoints.streamNodes, rows: z.array(Node) }

const cell = cellsOf<Node>()
const COLUMNS: readonly Column<Node>[] = [
  {
    head: 'Status',
    hiddenHead: true,
    width: 'w-dot',
    className: 'c-dot',
    ...cell(['isLocal', ...DOT_READS], (node) => !node.isLocal && <NodeDot node={node} />),
  },
  {
    head: 'Name',
    width: 'w-26',
    className: 'c-name',
    sortBy: 'name',
    ...cell(['id', 'name', 'address', 'problem'], (node) => (
      <>
        <Link {...OPENS_ROW} to={urls.node(node.id)} dir="auto">
          {node.name}
        </Link>{' '}
        <span className="sub mono">{node.address}</span>
        {node.problem && <p className="why bad">{node.problem}</p>}
      </>
    )),
  },
  {
    head: 'Type',
    width: 'w-12',
    className: 'c-badge',
    ...cell(['isLocal', 'isGateway', 'gatewayNetworks'], (node) => <NodeType node={node} inRow />),
  },
  {
    head: 'Services',
    width: 'w-count',
    className: 'r tn c-count',
    label: 'Services',
    ...cell(['services'], ({ services }) => services || <span className="none">-</span>),
  },
  {
    head: 'Latest Handshake',
    width: 'w-ago',
    sortBy: 'latestHandshakeTimestamp',
    label: 'Latest Handshake',
    ...cell(['latestHandshakeTimestamp'], (node) => <RelativeTime time={node.latestHandshakeTimestamp} />),
  },
  {
    head: 'Received (KB)',
    width: 'w-15',
    className: 'r',
    sortBy: 'transferRx',
    label: 'Received (KB)',
    ...cell(['transferRx'], (node) => <Kilobytes bytes={node.transferRx} />),
  },
  {
    head: 'Transmitted (KB)',
    width: 'w-15',
    className: 'r',
    sortBy: 'transferTx',
    label: 'Transmitted (KB)',
    ...cell(['transferTx'], (node) => <Kilobytes bytes={node.transferTx} />),
  },
]

type Open = { form: Node | undefined } | { expose: ServiceType; node: Node } | null

export function NodesPage() {
  const [open, setOpen] = useState<Open>(null)
  const nodes = useList({
    endpoint: endpoints.listNodes,
    state: usePageParams(),
    live: LIVE,
  })
  const renderMenu = useMenu(setOpen)
  const add = () => setOpen({ form: undefined })
  const close = () => setOpen(null)
  return (
    <Page title="Client / Nodes">
      <header className="head">
        <h1>Client / Nodes</h1>
        <div className="acts">
          <Button variant="primary" icon={Plus} onClick={add}>
            Add Client
          </Button>
        </div>
      </header>
      <ListFilters list={nodes} types={TYPES} noun="nodes" placeholder="Search name or address">
        <LiveMark state={nodes.streamState} />
      </ListFilters>
      <QueryTable
        className="nodes"
        caption="Nodes"
        noun="nodes"
        list={nodes}
        columns={COLUMNS}
        renderMenu={renderMenu}
        // The local node is always there and is none that a person added.
        isEmpty={({ data, total }) => total === data.filter((node) => node.isLocal).length}
        empty={
          <EmptyState
            door="ajar"
            title="No nodes yet"
            text="You haven't added any node yet. Once you add nodes, they will appear here for easy management."
          >
            <Button variant="primary" icon={Plus} onClick={add}>
              Add Node
            </Button>
          </EmptyState>
        }
        noMatch={<NoMatch list={nodes} onAdd={add} />}
      />
      <Suspense>
        {open && 'form' in open && <NodeDialog node={open.form} onClose={close} />}
        {open && 'expose' in open && <ServiceDialog node={open.node} type={open.expose} onClose={close} />}
      </Suspense>
    </Page>
  )
}

function NoMatch({ list, onAdd }: { list: List<Node>; onAdd: () => void }) {
  const { search, type } = list.params
  const viewAll = type !== '' && <Button onClick={() => list.change({ type: '' })}>View All</Button>
  const kind = type === 'gateways' ? 'gateway' : 'node'
  if (search !== '')
    return (
      <NothingMatches list={list} text={`No ${kind}s match.`}>
        {viewAll}
      </NothingMatches>
    )
  return (
    <EmptyState
      door="dashed"
      title={`No ${kind}s yet`}
      text={type === 'gateways' ? 'No node acts as a network gateway.' : 'No plain node has been added.'}
    >
      <Button variant="primary" icon={Plus} onClick={onAdd}>
        Add Node
      </Button>
      {viewAll}
    </EmptyState>
  )
}

/** What renders the menu of a node; what the menu offers is made of the record as it is then. */
function useMenu(onOpen: (open: Open) => void) {
  const navigate = useNavigate()
  const actions = useNodeActions()
  return useCallback(
    (node: Node) => (
      <Menu label={`Actions for ${node.name}`} groups={menuOf(node, { onOpen, navigate, actions })} />
    ),
    [onOpen, navigate, actions],
  )
}

interface MenuContext {
  onOpen: (open: Open) => void
  navigate: NavigateFunction
  actions: NodeActions
}

/** The local node can only be looked at and expose services. */
function menuOf(node: Node, { onOpen, navigate, actions }: MenuContext): MenuItem[][] {
  const own = (...items: MenuItem[]) => (node.isLocal ? [] : items)
  const power: MenuItem = node.enabled
    ? { text: 'Disconnect', icon: Power, onSelect: () => actions.disconnect(node) }
    : { text: 'Connect', icon: Power, onSelect: () => actions.connect(node) }
  return [
    [
      { text: 'View Node Details', icon: Eye, onSelect: () => navigate(urls.node(node.id)) },
      ...own({ text: 'Edit Node', icon: Pencil, onSelect: () => onOpen({ form: node }) }),
    ],
    [
      ...ServiceType.options.map((type) => ({
        text: `Expose ${typeName(type)}`,
        icon: EXPOSE_ICONS[type],
        onSelect: () => onOpen({ expose: type, node }),
      })),
      ...own({ text: 'Download Config', icon: Download, onSelect: () => actions.download(node) }),
    ],
    own(power, { text: 'Delete Node', icon: Trash2, danger: true, onSelect: () => actions.remove(node) }),
  ]
}

import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { Node } from '@postern/contract/nodes'
import { ServiceType, typeName } from '@postern/contract/services/services'
import { ArrowLeftRight, Download, Eye, Globe, Pencil, Plus, Power, Trash2 } from 'lucide-react'
import { type ReactNode, Suspense, useCallback, useState } from 'react'
import { Link, type NavigateFunction, useNavigate } from 'react-router'
import * as z from 'zod/mini'
import { hasTunnel, type Rules, useRules } from '../../api/rules.ts'
import { LiveMark } from '../../components/LiveMark.tsx'
import { NodesBar } from '../../components/many/bars.ts'
import { MutedMark } from '../../components/mute/MutedMark.tsx'
import { muteItem } from '../../components/mute/mute-item.ts'
import { DOT_READS, NodeDot } from '../../components/NodeDot.tsx'
import { NodeType } from '../../components/NodeType.tsx'
import { NodeWhy } from '../../components/NodeWhy.tsx'
import { Page } from '../../components/Page.tsx'
import { TrafficCell, TrafficRows } from '../../components/traffic/traffic.tsx'
import { type NodeActions, useNodeActions } from '../../components/use-node-actions.tsx'
import { NodeDialog, ServiceDialog } from '../../forms/dialogs.ts'
import { ListFilters } from '../../table/ListFilters.tsx'
import { type ListParams, usePageParams } from '../../table/list-params.ts'
import { NothingMatches, QueryTable } from '../../table/QueryTable.tsx'
import { type List, useList } from '../../table/use-list.ts'
import { useSelection } from '../../table/use-selection.ts'
import { Button } from '../../ui/Button.tsx'
import { Kilobytes, RelativeTime } from '../../ui/data/Figures.tsx'
import { INSIDE_ROW, OPENS_ROW } from '../../ui/data/row-events.ts'
import { type Column, cellsOf } from '../../ui/data/Table.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import type { MenuGroups, MenuItem } from '../../ui/overlay/OpenMenu.tsx'
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
    ...cell(['isLocal', ...DOT_READS], (node) => hasTunnel(node) && <NodeDot node={node} />),
  },
  {
    head: 'Name',
    width: 'w-26',
    className: 'c-name',
    sortBy: 'name',
    ...cell(['id', 'name', 'address', 'problem', 'fileEdges', 'mute'], (node) => (
      <>
        <Link {...OPENS_ROW} to={urls.node(node.id)} dir="auto">
          {node.name}
        </Link>{' '}
        <span className="sub mono">{node.address}</span> <MutedMark mute={node.mute} />
        <NodeWhy node={node} />
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
    ...cell(['id', 'services', 'isLocal'], (node) => <ServiceCount node={node} />),
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
  {
    head: 'Last 24 Hours',
    width: 'w-carried',
    className: 'c-carried',
    label: 'Last 24 Hours',
    ...cell(['id'], ({ id }) => <TrafficCell id={id} />),
  },
]

/** That of the local node has the console in it, which is in no list but its own. */
function ServiceCount({ node }: { node: Pick<Node, 'id' | 'services' | 'isLocal'> }) {
  const { id, services } = node
  if (services === 0) return <span className="none">-</span>
  if (!hasTunnel(node)) return services
  return (
    <Link {...INSIDE_ROW} to={urls.services({ node: id })}>
      {services}
    </Link>
  )
}

/** The local node is for no change of many, and in no list of gateways or plain nodes. */
const isAmongAll = ({ search, type }: ListParams) =>
  type === '' && 'localhost'.includes(search.trim().toLowerCase())

type Open = { form: Node | undefined } | { expose: ServiceType; node: Node } | null

export function NodesPage() {
  const [open, setOpen] = useState<Open>(null)
  const nodes = useList({
    endpoint: endpoints.listNodes,
    state: usePageParams(),
    live: LIVE,
  })
  const selection = useSelection({
    list: nodes,
    allows: hasTunnel,
    countAll: (total, params) => total - (isAmongAll(params) ? 1 : 0),
  })
  const canTick = useRules().many.nodes
  const renderMenu = useMenu(setOpen)
  const canAdd = useRules().node.add
  const add = () => setOpen({ form: undefined })
  const addNode = canAdd && (
    <Button variant="primary" icon={Plus} onClick={add}>
      Add Node
    </Button>
  )
  const close = () => setOpen(null)
  return (
    <Page title="Client / Nodes">
      <header className="head">
        <h1>Client / Nodes</h1>
        <div className="acts">
          {canAdd && (
            <Button variant="primary" icon={Plus} onClick={add}>
              Add Client
            </Button>
          )}
        </div>
      </header>
      <ListFilters list={nodes} types={TYPES} noun="nodes" placeholder="Search name or address">
        <LiveMark state={nodes.streamState} />
      </ListFilters>
      <TrafficRows of="nodes" rows={nodes.query.data?.data}>
        <QueryTable
          className="nodes"
          caption="Nodes"
          noun="nodes"
          list={nodes}
          columns={COLUMNS}
          renderMenu={renderMenu}
          selection={canTick ? selection : undefined}
          // The local node always exists, and no person added it.
          isEmpty={({ data, total }) => total === data.filter((node) => !hasTunnel(node)).length}
          empty={
            <EmptyState
              door="ajar"
              title="No nodes yet"
              text="You haven't added any node yet. Once you add nodes, they will appear here for easy management."
            >
              {addNode}
            </EmptyState>
          }
          noMatch={<NoMatch list={nodes} addNode={addNode} />}
        />
      </TrafficRows>
      <Suspense>
        {selection.count > 0 && <NodesBar list={nodes} selection={selection} />}
        {open && 'form' in open && <NodeDialog node={open.form} onClose={close} />}
        {open && 'expose' in open && <ServiceDialog node={open.node} type={open.expose} onClose={close} />}
      </Suspense>
    </Page>
  )
}

function NoMatch({ list, addNode }: { list: List<Node>; addNode: ReactNode }) {
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
      {addNode}
      {viewAll}
    </EmptyState>
  )
}

/** Renders the menu of a node; its items are made from the record when it opens. */
function useMenu(onOpen: (open: Open) => void) {
  const navigate = useNavigate()
  const actions = useNodeActions()
  const can = useRules().node
  return useCallback(
    (node: Node) => (
      <Menu label={`Actions for ${node.name}`} groups={menuOf(node, { can, onOpen, navigate, actions })} />
    ),
    [can, onOpen, navigate, actions],
  )
}

interface MenuContext {
  can: Rules['node']
  onOpen: (open: Open) => void
  navigate: NavigateFunction
  actions: NodeActions
}

function menuOf(node: Node, { can, onOpen, navigate, actions }: MenuContext): MenuGroups {
  const expose = ServiceType.options.map((type) => ({
    text: `Expose ${typeName(type)}`,
    icon: EXPOSE_ICONS[type],
    onSelect: () => onOpen({ expose: type, node }),
  }))
  const download = { text: 'Download Config', icon: Download, onSelect: () => actions.download(node) }
  const power: MenuItem = node.enabled
    ? { text: 'Disconnect', icon: Power, onSelect: () => actions.disconnect(node) }
    : { text: 'Connect', icon: Power, onSelect: () => actions.connect(node) }
  const remove = { text: 'Delete Node', icon: Trash2, danger: true, onSelect: () => actions.remove(node) }
  return [
    [
      { text: 'View Node Details', icon: Eye, onSelect: () => navigate(urls.node(node.id)) },
      can.edit(node) && { text: 'Edit Node', icon: Pencil, onSelect: () => onOpen({ form: node }) },
    ],
    [...(can.expose ? expose : []), can.download(node) && download],
    [can.mute(node) && muteItem(node, () => actions.mute(node))],
    [can.connect(node) && power, can.remove(node) && remove],
  ]
}

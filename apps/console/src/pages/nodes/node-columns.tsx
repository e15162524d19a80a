import type { Node } from '@postern/contract/nodes'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { NodeType } from '../../components/NodeType.tsx'
import { Kilobytes } from '../../ui/Bytes.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusDot } from '../../ui/StatusDot.tsx'
import type { Column } from '../../ui/Table.tsx'
import { urls } from '../../util/urls.ts'

export function nodeColumns(renderMenu: (node: Node) => ReactNode): Column<Node>[] {
  return [
    {
      head: 'Status',
      hiddenHead: true,
      width: 'w-dot',
      className: 'c-dot',
      render: (node) => !node.isLocal && <StatusDot status={node.status} />,
    },
    {
      head: 'Name',
      width: 'w-26',
      className: 'c-name',
      sortBy: 'name',
      render: (node) => (
        <>
          <Link to={urls.node(node.id)}>{node.name}</Link> <span className="sub mono">{node.address}</span>
        </>
      ),
    },
    { head: 'Type', width: 'w-12', className: 'c-badge', render: (node) => <NodeType node={node} /> },
    {
      head: 'Latest Handshake',
      sortBy: 'latestHandshakeTimestamp',
      label: 'Latest Handshake',
      render: (node) => <RelativeTime time={node.latestHandshakeTimestamp} />,
    },
    {
      head: 'Received (KB)',
      width: 'w-15',
      className: 'r',
      sortBy: 'transferRx',
      label: 'Received (KB)',
      render: (node) => <Kilobytes bytes={node.transferRx} />,
    },
    {
      head: 'Transmitted (KB)',
      width: 'w-15',
      className: 'r',
      sortBy: 'transferTx',
      label: 'Transmitted (KB)',
      render: (node) => <Kilobytes bytes={node.transferTx} />,
    },
    { head: 'Actions', hiddenHead: true, width: 'w-act', className: 'c-act', render: renderMenu },
  ]
}

import type { Attention } from '@postern/contract/overview'
import { Link } from 'react-router'
import { RelativeTime } from '../../ui/data/Figures.tsx'
import { INSIDE_ROW } from '../../ui/data/row-events.ts'
import { formatDate } from '../../util/time.ts'
import { domainRowUrl, serviceRowUrl, urls } from '../../util/urls.ts'
import { problemOf } from './use-attention.ts'

/** The page on which a person can look into the problem. */
export function attentionUrl({ kind, name, nodeId, type }: Attention): string | undefined {
  if (kind === 'edge') return urls.edges()
  if (kind === 'certificate') return domainRowUrl(name)
  if (nodeId === null) return undefined
  return type === null ? urls.node(nodeId) : serviceRowUrl({ nodeId, type, name })
}

/** The text beside the name. */
export function AttentionText({ row: { kind, nodeName, lost, notAfter } }: { row: Attention }) {
  if (lost !== null)
    return (
      <>
        was last seen <RelativeTime time={lost.lastSeen} />
      </>
    )
  if (nodeName !== null) return <>on {nodeName}</>
  if (kind !== 'certificate') return null
  return (
    <>
      {notAfter === null
        ? 'has no certificate from its authority'
        : `certificate expires ${formatDate(notAfter)}`}
    </>
  )
}

/** What is wrong; the services of a lost node are to be seen. */
export function ProblemText({ row }: { row: Attention }) {
  const { lost, nodeId } = row
  if (lost === null || lost.services === 0 || nodeId === null) return problemOf(row)
  const count = lost.services === 1 ? 'service' : `${lost.services} services`
  return (
    <>
      Its{' '}
      <Link {...INSIDE_ROW} to={urls.services({ state: 'node-offline', node: nodeId })}>
        {count}
      </Link>{' '}
      {lost.services === 1 ? 'is' : 'are'} unreachable.
    </>
  )
}

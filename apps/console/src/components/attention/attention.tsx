import type { Attention } from '@postern/contract/overview'
import { RelativeTime } from '../../ui/data/Figures.tsx'
import { formatDate } from '../../util/time.ts'
import { domainRowUrl, serviceRowUrl, urls } from '../../util/urls.ts'

/** The page on which a person can look into the problem; undefined for an edge, which has none. */
export function attentionUrl({ kind, name, nodeId, type }: Attention): string | undefined {
  if (kind === 'certificate') return domainRowUrl(name)
  if (nodeId === null) return undefined
  return type === null ? urls.node(nodeId) : serviceRowUrl({ nodeId, type, name })
}

/** What is said beside the name. */
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

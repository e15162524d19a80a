import type { ReactNode } from 'react'
import { RelativeTime, useNow } from '../../ui/data/Figures.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { tokenStatus } from './token-status.ts'

const LOOKS = { Active: 'ok', Expired: 'mute', Revoked: 'mute' } as const

/** Changes by itself when the token expires. */
export function TokenStatus({ token }: { token: Parameters<typeof tokenStatus>[0] }) {
  const status = tokenStatus(token, useNow())
  return <Badge kind={LOOKS[status]}>{status}</Badge>
}

interface Used {
  lastUsed: number | null
  lastUsedFrom: string | null
}

/** @param children shown below while it was never used */
export function LastUse({
  token: { lastUsed, lastUsedFrom },
  children,
}: {
  token: Used
  children?: ReactNode
}) {
  if (lastUsed === null)
    return (
      <>
        Never used
        {children}
      </>
    )
  return (
    <>
      <RelativeTime time={lastUsed} />
      {lastUsedFrom && <span className="sub">from {lastUsedFrom}</span>}
    </>
  )
}

import { formatBytes, formatKilobytes } from '../util/bytes.ts'

/** For tables: always KB, so that rows compare; the best unit is the tooltip. */
export function Kilobytes({ bytes }: { bytes: number }) {
  if (!bytes) return <span className="none">-</span>
  return (
    <span className="tn" title={formatBytes(bytes)}>
      {formatKilobytes(bytes)}
    </span>
  )
}

/** Elsewhere: the best unit. */
export function Bytes({ bytes }: { bytes: number }) {
  return <span className={bytes ? 'tn' : 'none'}>{formatBytes(bytes)}</span>
}

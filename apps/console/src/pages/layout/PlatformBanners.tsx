import { useEffect, useState } from 'react'
import { Link } from 'react-router'
import { useConfig, useEdges } from '../../api/queries.ts'
import type { StreamState } from '../../api/stream.ts'
import { absentEdges, brokenParts } from '../../components/platform.ts'
import { useKnownHost } from '../../stores/preference.ts'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { EDGE_ABSENCE_SHOWN } from '../../util/constants.ts'
import { formatMoment } from '../../util/time.ts'
import { urls } from '../../util/urls.ts'

/** Problems of the whole installation, across the top of every page. */
export function PlatformBanners({ hints }: { hints: StreamState }) {
  const config = useConfig()
  const edges = useEdges(hints === 'live')
  const absent = absentEdges(edges.data ?? [])
  // After a start of the server an edge needs a moment to reconnect.
  const isAbsent = useLasting(absent.length > 0, EDGE_ABSENCE_SHOWN)
  const broken = [...(isAbsent ? absent : []), ...brokenParts(edges.data ?? [])]
  const isAway = useLasting(hints === 'reconnecting', EDGE_ABSENCE_SHOWN)
  const lastLive = useLastLive(hints)
  const host = config.data?.VPN_HOST ?? ''
  const [isKnown, setKnown] = useKnownHost(host)
  const isPrivate = config.data?.publicHostIsPrivate === true && !isKnown
  if (broken.length === 0 && !isPrivate && !isAway) return null
  return (
    <div className="banners">
      {isAway && (
        <Banner kind="warn" role="status" className="away">
          <p>
            The server can't be reached.{' '}
            {lastLive === null
              ? 'What this page shows may be out of date.'
              : `What this page shows is from ${formatMoment(lastLive)}.`}{' '}
            Published services usually keep running.
          </p>
        </Banner>
      )}
      {broken.map((words) => (
        <Banner key={words} kind="bad" role="status">
          <p>{words}</p>
        </Banner>
      ))}
      {isPrivate && (
        <Banner kind="warn" role="status" onClose={setKnown}>
          <p>
            The public address <span className="mono">{host}</span> is private: visitors and nodes outside
            this network can't reach it. Set the public one under <Link to={urls.settings()}>Settings</Link>.
          </p>
        </Banner>
      )}
    </div>
  )
}

/** When the page was last up to date, in ms; null: not yet. */
function useLastLive(hints: StreamState): number | null {
  const [time, setTime] = useState<number | null>(null)
  useEffect(() => {
    if (hints !== 'live') return
    return () => setTime(Date.now())
  }, [hints])
  return time
}

/** Whether something has been true for `ms` without a break. */
function useLasting(is: boolean, ms: number): boolean {
  const [lasts, setLasts] = useState(false)
  useEffect(() => {
    if (!is) return
    const timer = setTimeout(() => setLasts(true), ms)
    return () => {
      clearTimeout(timer)
      setLasts(false)
    }
  }, [is, ms])
  return is && lasts
}

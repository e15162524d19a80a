import { ArrowUp, Pause, Play } from 'lucide-react'
import { errorMessage } from '../../api/api-error.ts'
import { LiveMark } from '../../components/LiveMark.tsx'
import { Button, Spinner } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { formatMoment } from '../../util/time.ts'
import type { RequestList as List } from './use-requests.ts'

/** Whether new ones come, and a way to hold still what is read. */
export function LiveBar({ live }: { live: List['live'] }) {
  if (!live.isLive) return null
  const { waiting, isPaused, pause, resume } = live
  return (
    <div className="live-bar">
      {isPaused ? (
        <p className="mark" role="status">
          Paused
        </p>
      ) : (
        <LiveMark state={live.state} text="New requests appear here" />
      )}
      {waiting > 0 && (
        <Button size="sm" variant="primary" icon={ArrowUp} onClick={resume}>
          {waiting === 1 ? '1 new request' : `${waiting} new requests`}
        </Button>
      )}
      <Button size="sm" icon={isPaused ? Play : Pause} onClick={isPaused ? resume : pause}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
    </div>
  )
}

/** What is missing in the list. */
export function Notes({ list: { old, live }, onReload }: { list: List; onReload: () => void }) {
  return (
    <>
      {old.silent.length > 0 && (
        <Banner
          kind="warn"
          action={
            <Button size="sm" onClick={onReload}>
              Retry
            </Button>
          }
        >
          The edge {old.silent.join(', ')} gives no answer, so the requests that it keeps are not here.
        </Banner>
      )}
      {live.missed && !live.isPaused && (
        <Banner
          kind="info"
          action={
            <Button size="sm" onClick={onReload}>
              Reload
            </Button>
          }
        >
          More requests came than are shown here.
        </Banner>
      )}
    </>
  )
}

/** How far back the search has come, and what to do next. */
export function Foot({ list: { old } }: { list: List }) {
  const reached = old.reached === null ? '' : ` back to ${formatMoment(old.reached)}`
  return (
    <footer className="requests-foot">
      <p role="status">
        {old.isSearching && (
          <>
            <Spinner />
            {old.isReady ? `Searched${reached}` : 'Searching'}
          </>
        )}
        {!old.isSearching && old.isError && errorMessage(old.error)}
        {!old.isSearching && old.isFull && 'Filter or export to see older ones.'}
        {!old.isSearching && !old.isError && !old.isFull && !old.hasMore && 'There are no older ones.'}
      </p>
      {old.isSearching && old.isReady && <Button onClick={old.stop}>Stop</Button>}
      {old.isError && <Button onClick={old.retry}>Retry</Button>}
      {old.hasMore && !old.isError && <Button onClick={old.showMore}>Show older</Button>}
    </footer>
  )
}

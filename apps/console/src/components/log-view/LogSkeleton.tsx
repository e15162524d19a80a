import { Skeleton } from '../../ui/Skeleton.tsx'

/** The log view while its service is loaded: on a wide screen nothing moves when it comes. */
export function LogSkeleton() {
  return (
    <>
      <h1 className="sr">Real Time Logs</h1>
      <div className="head logs-head waiting">
        <Skeleton width={18} />
      </div>
      <div className="tools waiting">
        <Skeleton width={40} />
      </div>
      <div className="logpane" aria-busy="true" />
    </>
  )
}

import { Skeleton } from '../../ui/Skeleton.tsx'

const FACTS = ['client', 'handshake', 'transmitted', 'received', 'internet']

/** The page of a node while it is loaded, of the same heights. */
export function NodeSkeleton() {
  return (
    <div className="node-page" aria-busy="true">
      <div className="head node-head waiting">
        <Skeleton width={18} />
      </div>
      <div className="facts">
        {FACTS.map((fact) => (
          <div key={fact}>
            <Skeleton width={60} />
          </div>
        ))}
      </div>
      <div className="card waiting">
        <Skeleton width={12} />
      </div>
    </div>
  )
}

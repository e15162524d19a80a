import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Overview, PublicHostCheck } from '@postern/contract/overview'
import { CircleCheck, CircleDashed, Plus, RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useAnswer } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { Button } from '../../ui/Button.tsx'
import { urls } from '../../util/urls.ts'
import './FirstSteps.css'

/** The steps from a new installation to its first service, ticked by the server's data. */
export function FirstSteps({ overview, onCreateNode }: { overview: Overview; onCreateNode: () => void }) {
  const canAdd = useRules().node.add
  const host = useAnswer(endpoints.checkPublicHost, {}, { staleTime: 60_000 })
  const { nodes, services, disabledServices } = overview
  const nodeCount = Object.values(nodes).reduce((a, b) => a + b, 0)
  const serviceCount = Object.values(services).reduce((a, b) => a + b, disabledServices)
  return (
    <section className="card steps-card" aria-labelledby="first-steps">
      <header className="card-head">
        <h2 id="first-steps">First Steps</h2>
      </header>
      <ol className="first-steps">
        {host.data && (
          <HostSteps check={host.data} busy={host.isFetching} onCheck={() => void host.refetch()} />
        )}
        <Step done={nodeCount > 0} title="Create a node">
          A node is a machine on a private network.
          {canAdd && (
            <Button size="sm" icon={Plus} onClick={onCreateNode}>
              Create your first node
            </Button>
          )}
        </Step>
        <Step done={nodes.online + nodes.idle + nodes.offline > 0} title="Connect it">
          On that machine, run the commands that you saw when you created the node, as root. If you no longer
          have them, create a new access token on <Link to={urls.nodes()}>the node's page</Link>.
        </Step>
        <Step done={serviceCount > 0} title="Publish a service">
          Open <Link to={urls.nodes()}>a node</Link>, choose <i>Add Service</i>, and enter the port your app
          listens on.
        </Step>
        <Step done={false} title="Open it in a browser">
          {serviceCount > 0
            ? 'No service is live yet. Its row says why.'
            : "Its address is in the service's row."}
        </Step>
      </ol>
    </section>
  )
}

interface HostProps {
  check: PublicHostCheck
  busy: boolean
  onCheck: () => void
}

function HostSteps({ check: { host, isName, problem }, busy, onCheck }: HostProps) {
  return (
    <>
      <Step done={isName} title="Give the server a name">
        Visitors reach it at <span className="mono">{host}</span>. Give it a host name under{' '}
        <Link to={urls.settings()}>Settings</Link>, so that nobody has to use an IP address.
      </Step>
      {isName && (
        <Step done={problem === null} title={`Point ${host} here`}>
          {problem}
          <Button size="sm" icon={RotateCw} busy={busy} onClick={onCheck}>
            Check again
          </Button>
        </Step>
      )}
    </>
  )
}

/** A finished step needs no text. */
function Step({ done, title, children }: { done: boolean; title: string; children: ReactNode }) {
  return (
    <li className={done ? 'done' : undefined}>
      {done ? <CircleCheck className="ic" /> : <CircleDashed className="ic" />}
      <div>
        <h3>
          {title}
          {done && <span className="sr"> (done)</span>}
        </h3>
        {!done && <div className="say">{children}</div>}
      </div>
    </li>
  )
}

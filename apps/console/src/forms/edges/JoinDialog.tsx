import type { Edge } from '@postern/contract/edge/edge'
import type { JoinToken } from '@postern/contract/edge/join'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { useEdges } from '../../api/queries.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { Spinner } from '../../ui/Button.tsx'
import { CopyField } from '../../ui/CopyButton.tsx'
import { useNow } from '../../ui/data/Figures.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { Pills } from '../../ui/input/Select.tsx'
import { confirm } from '../../ui/overlay/confirm.ts'
import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import { edgeComposeLines, joinCommand, joinLine } from '../../util/edge-commands.ts'
import { formatMoment } from '../../util/time.ts'
import { serverUrls } from '../../util/urls.ts'
import { arrivalOf } from './arrival.ts'
import { useEdgeInstaller } from './use-edge-installer.ts'
import '../../components/node-info/NodeInfoDialog.css'

const WAYS = { line: 'Debian or Ubuntu', docker: 'Docker Compose' } as const
type Way = keyof typeof WAYS
const isWay = (value: string): value is Way => value in WAYS
const OPTIONS = Object.entries(WAYS).map(([value, text]) => ({ value, text }))

interface Props {
  edge: Edge
  join: JoinToken
  onClose: () => void
}

/** How a machine becomes this edge: its token is shown only this once. Then it watches the edge come. */
export function JoinDialog({ edge, join, onClose }: Props) {
  const [way, setWay] = useState<Way>('line')
  const current = useEdges(true).data?.find(({ id }) => id === edge.id)
  const arrival = arrivalOf(edge, current, join, useNow())
  const isAwaited = arrival === 'waiting'
  useLeaveGuard(isAwaited, () => confirmLeave(edge.name))
  return (
    <InfoDialog
      title="Join a Machine"
      description={
        <>
          It becomes the edge <b dir="auto">{edge.name}</b>. Use a machine of its own:{' '}
          <a href={serverUrls.secondEdge()} target="_blank" rel="noreferrer">
            what it needs
          </a>
          .
        </>
      }
      oneTime={isAwaited}
      onClose={onClose}
    >
      {edge.isJoined && (
        <Banner kind="warn">
          <p>
            The machine that joins takes the place of the present one, with its number and its keys in the
            tunnel, so nodes notice nothing. The present one is cut off at that moment, and not before.
          </p>
        </Banner>
      )}
      <Pills
        label="The machine has"
        options={OPTIONS}
        value={way}
        onValueChange={(value) => isWay(value) && setWay(value)}
      />
      {way === 'docker' ? <DockerWay join={join} /> : <LineWay join={join} />}
      <Banner kind="warn">
        <p>
          The token is visible only now. It works once, until {formatMoment(join.expiresAt)}. The machine's
          key is made there and never leaves it.
        </p>
      </Banner>
      <Arrival edge={current ?? edge} arrival={arrival} />
    </InfoDialog>
  )
}

function LineWay({ join }: { join: JoinToken }) {
  const { data } = useEdgeInstaller()
  if (!data)
    return (
      <p className="hint" role="status">
        The server packs the edge's program. The first time, this takes some seconds…
      </p>
    )
  const line = joinLine(data, join)
  return (
    <div className="field">
      <span className="label">Paste this line there, as root</span>
      <CopyField oneLine label="Join command" value={line ?? joinCommand(join)} />
      <p className="hint">
        {line === null
          ? 'This server has no program for other machines, so install the edge there first.'
          : 'It checks what it downloads, installs what is missing, joins and starts the edge.'}
      </p>
    </div>
  )
}

function DockerWay({ join }: { join: JoinToken }) {
  return (
    <div className="field">
      <span className="label">
        The first lines of{' '}
        <a href={serverUrls.edgeDocker()} target="_blank" rel="noreferrer">
          edge.compose.yaml
        </a>
      </span>
      <CopyField label="Compose lines" value={edgeComposeLines(join)} />
      <p className="hint">
        Start it with <code>docker compose -f edge.compose.yaml up -d</code>.
      </p>
    </div>
  )
}

/** Waits for the machine, and shows how far it has come. */
function Arrival({ edge, arrival }: { edge: Edge; arrival: ReturnType<typeof arrivalOf> }) {
  const isLive = arrival === 'live'
  return (
    <div className={isLive ? 'arrival here' : 'arrival'}>
      <p role="status">
        {isLive ? (
          <CircleCheck className="ic" />
        ) : arrival === 'expired' ? (
          <CircleAlert className="ic" />
        ) : (
          <Spinner />
        )}
        <span>{textOf(arrival, edge)}</span>
      </p>
    </div>
  )
}

function textOf(arrival: ReturnType<typeof arrivalOf>, { name }: Edge): string {
  switch (arrival) {
    case 'waiting':
      return `Waiting for ${name}…`
    case 'joined':
      return `${name} has joined. Waiting for its connection: it needs the server's port for edges…`
    case 'connected':
      return `${name} is connected, and takes over the services…`
    case 'live':
      return `${name} is live`
    case 'expired':
      return 'The token has expired. Make a new one in the menu of the edge.'
  }
}

function confirmLeave(name: string): Promise<boolean> {
  return confirm({
    title: 'Leave without the token?',
    description: (
      <>
        The token of <b dir="auto">{name}</b> is visible only once. Copy it first, or make a new one later.
      </>
    ),
    variant: 'danger',
    cancelButtonText: 'Stay',
    acceptButtonText: 'Leave',
  })
}

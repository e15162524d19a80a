import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { CopyField } from '../../ui/CopyButton.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { Pills } from '../../ui/input/Select.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/overlay/Dialog.tsx'
import { CONTROL_WAYS } from '../../util/edge-commands.ts'
import { serverUrls } from '../../util/urls.ts'

type Way = keyof typeof CONTROL_WAYS

const isWay = (value: string): value is Way => value in CONTROL_WAYS
const OPTIONS = Object.entries(CONTROL_WAYS).map(([value, { text }]) => ({ value, text }))

interface Props {
  /** While it is looked at again. */
  busy: boolean
  onAgain: () => void
  onClose: () => void
}

/** Before an edge can be added: the server has no port for edges on other machines yet. */
export function ControlDialog({ busy, onAgain, onClose }: Props) {
  const [way, setWay] = useState<Way>('package')
  return (
    <Dialog
      title="Add Edge"
      description="First, the server needs a port for edges on other machines"
      onClose={onClose}
    >
      <DialogBody>
        <p>
          Edges reach the server at a TCP port of its own. It is closed until you set{' '}
          <a href={serverUrls.setting('POSTERN_CONTROL_LISTEN')} target="_blank" rel="noreferrer">
            <code>POSTERN_CONTROL_LISTEN</code>
          </a>
          . Only machines that have joined can speak there.
        </p>
        <Pills
          label="The server was installed as"
          options={OPTIONS}
          value={way}
          onValueChange={(value) => isWay(value) && setWay(value)}
        />
        <div className="field">
          <span className="label">
            {way === 'docker'
              ? 'Add these lines to the service server of compose.yaml, then run docker compose up -d'
              : "Run this on the server's machine"}
          </span>
          <CopyField label="Lines" oneLine={way === 'package'} value={CONTROL_WAYS[way].lines} />
        </div>
        <Banner kind="info">
          <p>
            Published services keep running while the server restarts. Let your firewall pass TCP port 8443 to
            the server.
          </p>
        </Banner>
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" busy={busy} onClick={onAgain}>
          Check Again
        </Button>
      </DialogFoot>
    </Dialog>
  )
}

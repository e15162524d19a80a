import type { CreatedNode } from '@postern/contract/nodes'
import { Plus } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useNavigate } from 'react-router'
import { NodeDialog } from '../../forms/dialogs.ts'
import { Button } from '../../ui/Button.tsx'
import { urls } from '../../util/urls.ts'

export function CreateNodeCard() {
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const close = (created?: CreatedNode) => {
    setOpen(false)
    if (created) void navigate(urls.nodes())
  }
  return (
    <section className="card" aria-labelledby="create-node">
      <header className="card-head">
        <h2 id="create-node">Create Node</h2>
      </header>
      <div className="card-body">
        <p>
          A node is a machine inside a private network: a plain client, or a gateway for a whole subnet. It
          connects outwards, so nothing has to be opened on its side.
        </p>
        <p>
          <Button variant="primary" icon={Plus} onClick={() => setOpen(true)}>
            Create Node
          </Button>
        </p>
      </div>
      <Suspense>{isOpen && <NodeDialog onClose={close} />}</Suspense>
    </section>
  )
}

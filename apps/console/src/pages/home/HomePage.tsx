import { endpoints } from '@postern/contract/endpoints'
import type { CreatedNode } from '@postern/contract/nodes'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useNavigate } from 'react-router'
import { useApi } from '../../api/context.ts'
import { apiQuery } from '../../api/queries.ts'
import { Glyph } from '../../components/Glyph.tsx'
import { Page } from '../../components/Page.tsx'
import { NodeDialog } from '../../forms/dialogs.ts'
import { Button } from '../../ui/Button.tsx'
import { urls } from '../../util/urls.ts'
import { HelpCard } from './HelpCard.tsx'
import { InstallCard } from './InstallCard.tsx'
import './HomePage.css'

export function HomePage() {
  const api = useApi()
  const me = useQuery({ ...apiQuery(api, endpoints.me, {}), staleTime: 300_000 })
  return (
    <Page title="Home">
      <header className="head">
        <div>
          <h1 className="hello">{me.data ? `Welcome, ${me.data.username}` : 'Welcome'}</h1>
          <p className="lead">
            Open one door in the wall, and only one: publish a service from any private network under a domain
            or a path.
          </p>
        </div>
      </header>
      <RequestPath />
      <div className="home">
        <CreateNodeCard />
        <InstallCard />
        <HelpCard />
      </div>
    </Page>
  )
}

/** How a request travels, with made-up addresses. */
function RequestPath() {
  return (
    <ol className="path" aria-label="How a request travels">
      <li>
        <span className="k">Visitor</span>
        <span className="v mono">https://app.example.com</span>
      </li>
      <li className="gate">
        <span className="k">
          <Glyph />
          Postern
        </span>
        <span className="v">certificate, routes, IP lists</span>
      </li>
      <li className="tun">
        <span className="k">Node</span>
        <span className="v">encrypted tunnel, no open port</span>
      </li>
      <li>
        <span className="k">Service</span>
        <span className="v mono">192.168.7.12:8080</span>
      </li>
    </ol>
  )
}

function CreateNodeCard() {
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

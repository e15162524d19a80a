import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { CreatedNode } from '@postern/contract/nodes'
import { ArrowUpRight, Plus, RotateCw } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useNavigate } from 'react-router'
import { errorMessage, failureOf, isTold } from '../../api/api-error.ts'
import { useAnswer, useConfig, useMe } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { Glyph } from '../../components/Glyph.tsx'
import { Page } from '../../components/Page.tsx'
import { NodeDialog } from '../../forms/dialogs.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyField } from '../../ui/CopyButton.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { FailureNote } from '../../ui/feedback/FailureNote.tsx'
import { installCommand } from '../../util/node-commands.ts'
import { serverUrls, urls } from '../../util/urls.ts'
import { FirstSteps } from './FirstSteps.tsx'
import { GatewayCard, HelpCard } from './LinkCards.tsx'
import { OverviewCards, OverviewSkeleton } from './Overview.tsx'
import './HomePage.css'

export function HomePage() {
  const me = useMe()
  const canAdd = useRules().node.add
  const node = useCreateNode()
  return (
    <Page title="Home">
      <header className="head">
        <div>
          <h1 className="hello">{me.data ? `Welcome, ${me.data.username}` : 'Welcome'}</h1>
          <p className="lead">Publish a service from any private network under a domain or a path.</p>
        </div>
      </header>
      <Installation onCreateNode={node.create} />
      <div className="home">
        {canAdd && <CreateNodeCard onCreate={node.create} />}
        <InstallCard />
        <GatewayCard />
        <HelpCard />
      </div>
      {node.dialog}
    </Page>
  )
}

/** At first how it works and how to begin, later the overview. */
function Installation({ onCreateNode }: { onCreateNode: () => void }) {
  const { data: overview, isError, error, refetch, isFetching } = useAnswer(endpoints.getOverview, {})
  if (isError && !overview)
    return (
      <Banner kind="bad" role="alert">
        <p>Couldn't load the overview. {!isTold(error) && errorMessage(error)}</p>
        <FailureNote failure={failureOf(error)} />
        <Button size="sm" icon={RotateCw} busy={isFetching} onClick={() => void refetch()}>
          Retry
        </Button>
      </Banner>
    )
  if (!overview) return <OverviewSkeleton />
  const hasNodes = Object.values(overview.nodes).some((count) => count > 0)
  const isLive = overview.services.live > 0
  return (
    <>
      {!hasNodes && !isLive && <RequestPath />}
      {!isLive && <FirstSteps overview={overview} onCreateNode={onCreateNode} />}
      {(hasNodes || isLive) && <OverviewCards overview={overview} />}
    </>
  )
}

/** The form of a node, which leads to the list of nodes when it is saved. */
function useCreateNode() {
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const close = (created?: CreatedNode) => {
    setOpen(false)
    if (created) void navigate(urls.nodes())
  }
  return {
    create: () => setOpen(true),
    dialog: <Suspense>{isOpen && <NodeDialog onClose={close} />}</Suspense>,
  }
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

function CreateNodeCard({ onCreate }: { onCreate: () => void }) {
  return (
    <section className="card" aria-labelledby="create-node">
      <header className="card-head">
        <h2 id="create-node">Create Node</h2>
      </header>
      <div className="card-body">
        <p>
          A node is a machine inside a private network: a plain client, or a gateway for a whole subnet. It
          connects outwards, so you don't need to open any ports there.
        </p>
        <p>
          <Button variant="primary" icon={Plus} onClick={onCreate}>
            Create Node
          </Button>
        </p>
      </div>
    </section>
  )
}

function InstallCard() {
  return (
    <section className="card" aria-labelledby="install-cli">
      <header className="card-head">
        <h2 id="install-cli">Install the CLI</h2>
        <a className="more" href={serverUrls.cli()} target="_blank" rel="noreferrer">
          Documentation
          <ArrowUpRight className="ic" />
        </a>
      </header>
      <div className="card-body">
        <p>
          The <code>postern</code> command joins a machine and keeps it connected. Run this as root on the
          node:
        </p>
        <Command />
      </div>
    </section>
  )
}

function Command() {
  const config = useConfig()
  if (config.isError)
    return (
      <Banner kind="bad" role="alert">
        <p>Couldn't load the install command. {!isTold(config.error) && errorMessage(config.error)}</p>
        <FailureNote failure={failureOf(config.error)} />
      </Banner>
    )
  if (!config.data)
    return (
      <div className="waiting">
        <Skeleton width={80} />
      </div>
    )
  const command = installCommand(config.data)
  if (command !== null) return <CopyField oneLine label="Install command" value={command} />
  return (
    <Banner kind="warn">
      <p>
        This installation was started without the CLI. The{' '}
        <a href={serverUrls.cli()} target="_blank" rel="noreferrer">
          documentation
        </a>{' '}
        explains how to build it.
      </p>
    </Banner>
  )
}

import { endpoints } from '@postern/contract/endpoints'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { apiQuery } from '../../api/queries.ts'
import { Page } from '../../components/Page.tsx'
import { CreateNodeCard } from './CreateNodeCard.tsx'
import { HelpCard } from './HelpCard.tsx'
import { InstallCard } from './InstallCard.tsx'
import { RequestPath } from './RequestPath.tsx'
import '../../styles/home.css'

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

import { lazy, Suspense } from 'react'
import { Page } from '../../components/Page.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import './AccountPage.css'

/** In the order of the page, each a file of its own. */
const CARDS = {
  identity: lazy(async () => ({ default: (await import('./IdentityCard.tsx')).IdentityCard })),
  factors: lazy(async () => ({
    default: (await import('./SecondFactorsCard.tsx')).SecondFactorsCard,
  })),
  providers: lazy(async () => ({ default: (await import('./ProvidersCard.tsx')).ProvidersCard })),
  tokens: lazy(async () => ({ default: (await import('./ApiTokensCard.tsx')).ApiTokensCard })),
  sessions: lazy(async () => ({ default: (await import('./SessionsCard.tsx')).SessionsCard })),
}

/** What belongs to the person who is signed in. */
export function AccountPage() {
  return (
    <Page title="Account" className="account-page">
      <header className="head">
        <div>
          <h1>Account</h1>
          <p className="lead">How you sign in, and where you are signed in.</p>
        </div>
      </header>
      {Object.entries(CARDS).map(([name, Card]) => (
        <Suspense key={name} fallback={name !== 'providers' && <Skeleton width={80} />}>
          <Card />
        </Suspense>
      ))}
    </Page>
  )
}

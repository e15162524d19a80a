import { House } from 'lucide-react'
import { Link } from 'react-router'
import { Page } from '../../components/Page.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { urls } from '../../util/urls.ts'

export function NotFoundPage() {
  return (
    <Page title="Not found" className="lonely">
      <h1 className="sr">Page not found</h1>
      <EmptyState
        door="bricked"
        title="Hmm...this page doesn't exist."
        text="Try searching for something else!"
      >
        <Link className="btn" to={urls.home()}>
          <House className="ic" />
          Back To Home
        </Link>
      </EmptyState>
    </Page>
  )
}

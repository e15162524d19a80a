import { useRouteError } from 'react-router'
import { ErrorPanel } from '../ui/EmptyState.tsx'
import { Page } from './Page.tsx'

/** A page that could not be loaded or broke while it was drawn; the rest of the console stays. */
export function RouteError() {
  const error = useRouteError()
  console.error('The page broke', error)
  return (
    <Page title="Error" className="lonely">
      <h1 className="sr">Error</h1>
      <ErrorPanel
        title="This page could not be shown"
        text="The server may be away, or newer than this page. What is published keeps running."
        onRetry={() => location.reload()}
      />
    </Page>
  )
}

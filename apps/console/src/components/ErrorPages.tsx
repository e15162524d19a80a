import type { UseQueryResult } from '@tanstack/react-query'
import { House } from 'lucide-react'
import { Link, useRouteError } from 'react-router'
import { ApiError, errorMessage, failureOf, isTold } from '../api/api-error.ts'
import { EmptyState, ErrorPanel } from '../ui/feedback/EmptyState.tsx'
import { urls } from '../util/urls.ts'
import { Page } from './Page.tsx'

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

/** For a page that broke while it was drawn; the rest of the console stays. */
export function RouteError() {
  const error = useRouteError()
  console.error('The page broke', error)
  return <PageFailure />
}

/** The same for a page that could not be loaded. */
export function PageFailure() {
  return (
    <Page title="Error" className="lonely">
      <h1 className="sr">Error</h1>
      <ErrorPanel
        title="This page could not be shown"
        text="The server may be down, or newer than this page. Published services usually keep running."
        onRetry={() => location.reload()}
      />
    </Page>
  )
}

interface RecordErrorProps {
  query: Pick<UseQueryResult, 'data' | 'error' | 'isFetching' | 'refetch'>
  /** What was asked for, like `node`. */
  what: string
  /** A link to the list that it should be in. */
  back: { text: string; to: string }
}

/** True when the server says that there is no such record, also because the id cannot be one. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 422)
}

/** In place of a single record that could not be loaded. */
export function RecordError({ query, what, back }: RecordErrorProps) {
  return (
    <div className="panel">
      {isMissing(query.error) ? (
        <EmptyState
          door="bricked"
          title={`This ${what} ${query.data === undefined ? 'does not exist' : 'was deleted'}`}
          text={
            query.data === undefined
              ? 'It may have been deleted, or the address is wrong.'
              : 'Someone deleted it while it was open here.'
          }
        >
          <Link className="btn" to={back.to}>
            {back.text}
          </Link>
        </EmptyState>
      ) : (
        <ErrorPanel
          title={`The ${what} could not be loaded`}
          text={!isTold(query.error) && errorMessage(query.error)}
          failure={failureOf(query.error)}
          busy={query.isFetching}
          onRetry={() => query.refetch()}
        />
      )}
    </div>
  )
}

import type { UseQueryResult } from '@tanstack/react-query'
import { House } from 'lucide-react'
import { Component, type ReactNode } from 'react'
import { Link, useLocation } from 'react-router'
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

/** Stands in for a page that failed while rendering, until the next one; the rest of the console stays. */
export function PageBoundary({ children }: { children: ReactNode }) {
  return <Boundary place={useLocation().key}>{children}</Boundary>
}

interface Failed {
  place: string
  hasFailed: boolean
}

class Boundary extends Component<{ place: string; children: ReactNode }, Failed> {
  override state: Failed = { place: this.props.place, hasFailed: false }

  static getDerivedStateFromError(): Partial<Failed> {
    return { hasFailed: true }
  }

  static getDerivedStateFromProps({ place }: { place: string }, before: Failed): Failed | null {
    return place === before.place ? null : { place, hasFailed: false }
  }

  override componentDidCatch(error: unknown) {
    console.error('The page failed to render', error)
  }

  override render() {
    return this.state.hasFailed ? <PageFailure /> : this.props.children
  }
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
  /** The kind of record, like `node`. */
  what: string
  /** A link to the list that it should be in. */
  back: { text: string; to: string }
}

/** True when the server says that there is no such record, or that the id is malformed. */
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

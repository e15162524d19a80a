import { type LoaderFunctionArgs, type RouteObject, redirectDocument } from 'react-router'
import { NotFoundPage, PageFailure, RouteError } from './components/ErrorPages.tsx'
import { SessionFrame } from './pages/layout/Layout.tsx'
import { NodesPage } from './pages/nodes/NodesPage.tsx'
import type { Session } from './stores/session.ts'
import { routePaths, urls } from './util/urls.ts'

const NodePage = async () => (await import('./pages/nodes/NodePage.tsx')).NodePage
const DomainsPage = async () => (await import('./pages/domains/DomainsPage.tsx')).DomainsPage
const TestSignInPage = async () => (await import('./pages/domains/TestSignInPage.tsx')).TestSignInPage
const DomainLogsPage = async () => (await import('./pages/logs/LogsPages.tsx')).DomainLogsPage
const ServiceLogsPage = async () => (await import('./pages/logs/LogsPages.tsx')).ServiceLogsPage
const AttentionPage = async () => (await import('./pages/attention/AttentionPage.tsx')).AttentionPage
const HomePage = async () => (await import('./pages/home/HomePage.tsx')).HomePage

/** Nothing: the page's own skeleton appears almost at once. */
const Blank = () => null

/** What the router itself makes of a page that cannot be loaded is nothing at all. */
function tellFailure(error: unknown) {
  console.error('The page could not be loaded', error)
  return PageFailure
}

/** Every page, loaded when it is first opened; the nodes, which most visits are about, come with the frame. */
export function routesFor(session: Session): RouteObject[] {
  const signedIn = ({ request }: LoaderFunctionArgs) => {
    if (session.token() !== null) return null
    const { pathname, search } = new URL(request.url)
    session.remember(pathname + search)
    return redirectDocument(urls.login())
  }
  const page = (path: string, Component: () => Promise<() => React.ReactNode>): RouteObject => ({
    path,
    loader: signedIn,
    lazy: { Component: () => Component().catch(tellFailure) },
    ErrorBoundary: RouteError,
  })
  return [
    {
      HydrateFallback: Blank,
      ErrorBoundary: RouteError,
      children: [
        {
          Component: SessionFrame,
          children: [
            page(routePaths.home, HomePage),
            page(routePaths.nodes, async () => NodesPage),
            page(routePaths.attention, AttentionPage),
            page(routePaths.node, NodePage),
            page(routePaths.domains, DomainsPage),
            page(routePaths.testSignIn, TestSignInPage),
            page(routePaths.domainLogs, DomainLogsPage),
            page(routePaths.serviceLogs, ServiceLogsPage),
            { path: '*', Component: NotFoundPage },
          ],
        },
      ],
    },
  ]
}

import { type LoaderFunctionArgs, type RouteObject, redirect } from 'react-router'
import { NotFoundPage, RouteError } from './components/ErrorPages.tsx'
import type { Session } from './stores/session.ts'
import { routePaths, urls } from './util/urls.ts'

const NodesPage = async () => (await import('./pages/nodes/NodesPage.tsx')).NodesPage
const NodePage = async () => (await import('./pages/nodes/NodePage.tsx')).NodePage
const DomainsPage = async () => (await import('./pages/domains/DomainsPage.tsx')).DomainsPage
const DomainLogsPage = async () => (await import('./pages/logs/LogsPages.tsx')).DomainLogsPage
const ServiceLogsPage = async () => (await import('./pages/logs/LogsPages.tsx')).ServiceLogsPage
const HomePage = async () => (await import('./pages/home/HomePage.tsx')).HomePage
const LoginPage = async () => (await import('./pages/login/LoginPage.tsx')).LoginPage
const SessionFrame = async () => (await import('./pages/layout/Layout.tsx')).SessionFrame

/** Nothing: the page's own skeleton appears almost at once. */
const Blank = () => null

/** Every page, loaded when it is first opened. */
export function routesFor(session: Session): RouteObject[] {
  const signedIn = ({ request }: LoaderFunctionArgs) => {
    if (session.token() !== null) return null
    const { pathname, search } = new URL(request.url)
    session.remember(pathname + search)
    return redirect(urls.login())
  }
  const signedOut = () => (session.token() === null ? null : redirect(urls.home()))
  const page = (path: string, Component: () => Promise<() => React.ReactNode>): RouteObject => ({
    path,
    loader: signedIn,
    lazy: { Component },
    ErrorBoundary: RouteError,
  })
  return [
    {
      HydrateFallback: Blank,
      ErrorBoundary: RouteError,
      children: [
        { path: routePaths.login, loader: signedOut, lazy: { Component: LoginPage } },
        {
          lazy: { Component: SessionFrame },
          children: [
            page(routePaths.home, HomePage),
            page(routePaths.nodes, NodesPage),
            page(routePaths.node, NodePage),
            page(routePaths.domains, DomainsPage),
            page(routePaths.domainLogs, DomainLogsPage),
            page(routePaths.serviceLogs, ServiceLogsPage),
            { path: '*', Component: NotFoundPage },
          ],
        },
      ],
    },
  ]
}

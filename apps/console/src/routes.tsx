import { type ReactNode, Suspense } from 'react'
import type { RouteObject } from 'react-router'
import { NotFoundPage, PageBoundary } from './components/ErrorPages.tsx'
import { type LoadPage, pageOf } from './components/page-of.tsx'
import { SignedIn } from './components/SignedIn.tsx'
import { BareFrame, SessionFrame } from './pages/layout/Layout.tsx'
import { NodesPage } from './pages/nodes/NodesPage.tsx'
import { routePaths } from './util/urls.ts'

/** Every page, loaded when it is first opened; only the nodes, which most visits need, come with the frame. */
const PAGES: Record<keyof typeof routePaths, LoadPage> = {
  home: async () => (await import('./pages/home/HomePage.tsx')).HomePage,
  nodes: async () => NodesPage,
  attention: async () => (await import('./pages/attention/AttentionPage.tsx')).AttentionPage,
  services: async () => (await import('./pages/services/ServicesPage.tsx')).ServicesPage,
  requests: async () => (await import('./pages/requests/RequestsPage.tsx')).RequestsPage,
  history: async () => (await import('./pages/history/HistoryPage.tsx')).HistoryPage,
  serviceHistory: async () => (await import('./pages/history/ServiceHistoryPage.tsx')).ServiceHistoryPage,
  node: async () => (await import('./pages/nodes/NodePage.tsx')).NodePage,
  edges: async () => (await import('./pages/edges/EdgesPage.tsx')).EdgesPage,
  why: async () => (await import('./pages/why/WhyArrival.tsx')).WhyArrival,
  domains: async () => (await import('./pages/domains/DomainsPage.tsx')).DomainsPage,
  testSignIn: async () => (await import('./pages/domains/TestSignInPage.tsx')).TestSignInPage,
  domainLogs: async () => (await import('./pages/logs/LogsPages.tsx')).DomainLogsPage,
  serviceLogs: async () => (await import('./pages/logs/LogsPages.tsx')).ServiceLogsPage,
  serviceTraffic: async () => (await import('./pages/traffic/ServiceTrafficPage.tsx')).ServiceTrafficPage,
  account: async () => (await import('./pages/account/AccountPage.tsx')).AccountPage,
  people: async () => (await import('./pages/people/PeoplePage.tsx')).PeoplePage,
  device: async () => (await import('./pages/device/DevicePage.tsx')).DevicePage,
  setUpFactor: async () => (await import('./pages/account/SetUpFactorPage.tsx')).SetUpFactorPage,
  settings: async () => (await import('./pages/settings/SettingsPage.tsx')).SettingsPage,
  alerts: async () => (await import('./pages/alerts/AlertsPage.tsx')).AlertsPage,
  alertHistory: async () => (await import('./pages/alerts/AlertHistoryPage.tsx')).AlertHistoryPage,
  alertChannels: async () => (await import('./pages/alerts/AlertChannelsPage.tsx')).AlertChannelsPage,
  alertRules: async () => (await import('./pages/alerts/AlertRulesPage.tsx')).AlertRulesPage,
}

export type PageRoute = RouteObject & { handle?: LoadPage }

const isPage = (name: string): name is keyof typeof PAGES => Object.hasOwn(PAGES, name)

/** They have nothing around them. */
const ALONE: readonly (keyof typeof PAGES)[] = ['setUpFactor', 'device']

/** The router's table; the `handle` of a page loads it. */
export const routes: PageRoute[] = [
  {
    element: inBoundary(
      // Nothing: the page's own skeleton appears almost at once.
      <Suspense>
        <SessionFrame />
      </Suspense>,
    ),
    children: [
      ...Object.keys(routePaths)
        .filter(isPage)
        .filter((name) => !ALONE.includes(name))
        .map((name) => routeOf(name)),
      { path: '*', element: <NotFoundPage /> },
    ],
  },
  ...ALONE.map(aloneRoute),
]

function routeOf(name: keyof typeof PAGES): PageRoute {
  const { Page, load } = pageOf(PAGES[name])
  const page = inBoundary(<Page />)
  // A person who comes by a link may have to sign in first, and that page reads where they came from before.
  return {
    path: routePaths[name],
    handle: load,
    element: name === 'why' ? page : <SignedIn>{page}</SignedIn>,
  }
}

function aloneRoute(name: keyof typeof PAGES): PageRoute {
  const route = routeOf(name)
  return { ...route, element: <BareFrame>{route.element}</BareFrame> }
}

function inBoundary(page: ReactNode) {
  return <PageBoundary>{page}</PageBoundary>
}

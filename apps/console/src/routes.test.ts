import { matchRoutes } from 'react-router'
import { expect, test } from 'vitest'
import { type PageRoute, routes } from './routes.tsx'
import { routePaths, urls } from './util/urls.ts'

const examples = {
  home: urls.home(),
  setUpFactor: urls.setUpFactor(),
  device: urls.device(),
  domains: urls.domains(),
  testSignIn: urls.testSignIn(),
  domainLogs: urls.domainLogs('app.example.com'),
  nodes: urls.nodes(),
  node: urls.node(7),
  edges: urls.edges(),
  attention: urls.attention(),
  why: urls.why('https://app.example.com/'),
  services: urls.services(),
  serviceLogs: urls.serviceLogs({ nodeId: 7, type: 'http', id: 3 }),
  serviceTraffic: urls.serviceTraffic({ nodeId: 7, type: 'http', id: 3 }, 0),
  account: urls.account(),
  people: urls.people(),
  serviceHistory: urls.serviceHistory({ nodeId: 7, type: 'http', id: 3 }),
  history: urls.history({ kind: 'service', id: '3' }),
  settings: urls.settings(),
  alerts: urls.alerts(),
  alertHistory: urls.alertHistory(),
  alertChannels: urls.alertChannels(),
  alertRules: urls.alertRules(),
  requests: urls.requests({ path: '/a', status: undefined }),
} satisfies Record<keyof typeof routePaths, string>

test.each(Object.entries(examples))('%s opens its own route with a page behind it', async (name, url) => {
  const match = matchRoutes<PageRoute>(routes, url)?.at(-1)
  expect(match?.route.path).toBe(routePaths[name as keyof typeof routePaths])
  const page = await match?.route.handle?.()
  expect(page).toBeTypeOf('function')
})

test.each(['/nodes/7/http', '/nodes/7/http/3/logs/more'])('%s opens the not-found page', (path) => {
  expect(matchRoutes(routes, path)?.at(-1)?.route.path).toBe('*')
})

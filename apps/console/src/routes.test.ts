import { matchRoutes } from 'react-router'
import { expect, test } from 'vitest'
import { routesFor } from './routes.tsx'
import { createSession, type SessionHost } from './stores/session.ts'
import { routePaths, urls } from './util/urls.ts'

const host: SessionHost = {
  cookies: { cookie: '' },
  storage: { getItem: () => null, setItem: () => undefined, removeItem: () => undefined },
  location: { protocol: 'https:', pathname: '/', search: '' },
  now: () => 0,
  makeKey: () => '',
}
const routes = routesFor(createSession(host))

const examples = {
  home: urls.home(),
  domains: urls.domains(),
  testSignIn: urls.testSignIn(),
  domainLogs: urls.domainLogs('app.example.com'),
  nodes: urls.nodes(),
  node: urls.node(7),
  attention: urls.attention(),
  serviceLogs: urls.serviceLogs({ nodeId: 7, type: 'http', id: 3 }),
} satisfies Record<keyof typeof routePaths, string>

test.each(Object.entries(examples))('%s opens its own route with a page behind it', async (name, url) => {
  const match = matchRoutes(routes, url)?.at(-1)
  expect(match?.route.path).toBe(routePaths[name as keyof typeof routePaths])
  const { lazy } = match?.route ?? {}
  const page = typeof lazy === 'object' ? await lazy.Component?.() : undefined
  expect(page).toBeTypeOf('function')
})

test.each(['/nodes/7/http', '/nodes/7/http/3/logs/more'])('%s opens the not-found page', (path) => {
  expect(matchRoutes(routes, path)?.at(-1)?.route.path).toBe('*')
})

import { isReservedPath } from '@postern/contract/reserved-paths'
import type { RouteObject } from 'react-router'
import { expect, test } from 'vitest'
import { routesFor } from './routes.tsx'
import { createSession } from './stores/session.ts'
import { urls } from './util/urls.ts'

const session = createSession({
  cookies: { cookie: '' },
  storage: { getItem: () => null, setItem: () => undefined, removeItem: () => undefined },
  location: { protocol: 'https:', pathname: '/', search: '' },
  now: () => 0,
  makeKey: () => '',
})

const pathsOf = (routes: readonly RouteObject[]): string[] =>
  routes.flatMap(({ path, children }) => [...(path ? [path] : []), ...pathsOf(children ?? [])])

test('no service can take a page of the console', () => {
  const pages = [urls.login(), ...pathsOf(routesFor(session))].filter((path) => path !== '*')
  expect(pages.length).toBeGreaterThan(5)
  expect(pages.filter((path) => !isReservedPath(path))).toEqual([])
})

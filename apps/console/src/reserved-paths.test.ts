import { isReservedPath } from '@postern/contract/reserved-paths'
import type { RouteObject } from 'react-router'
import { expect, test } from 'vitest'
import { routes } from './routes.tsx'
import { urls } from './util/urls.ts'

const pathsOf = (routes: readonly RouteObject[]): string[] =>
  routes.flatMap(({ path, children }) => [...(path ? [path] : []), ...pathsOf(children ?? [])])

test('no service can take a page of the console', () => {
  const pages = [urls.login(), urls.invite(), ...pathsOf(routes)].filter((path) => path !== '*')
  expect(pages.length).toBeGreaterThan(5)
  expect(pages.filter((path) => !isReservedPath(path))).toEqual([])
})

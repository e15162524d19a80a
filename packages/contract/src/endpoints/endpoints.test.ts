import { expect, it } from 'vitest'
import { type Endpoint, pathOf } from './endpoint.ts'
import { endpoints } from './endpoints.ts'

const all: [string, Endpoint][] = Object.entries(endpoints)

it('no two endpoints have the same method and path', () => {
  const keys = all.map(([, { method, path }]) => `${method} ${path.replace(/:\w+/g, ':')}`)
  expect(new Set(keys).size).toBe(keys.length)
})

it('every parameter of a path is parsed, and only those', () => {
  for (const [name, { path, params }] of all) {
    const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '')
    const values = Object.fromEntries(names.map((key) => [key, key === 'type' ? 'http' : '7']))
    if (names.length === 0) expect(params, name).toBeUndefined()
    else
      expect(params?.safeParse(values), name).toMatchObject({
        success: true,
        data: Object.fromEntries(names.map((key) => [key, key === 'type' ? 'http' : 7])),
      })
  }
})

it('nothing but signing in, the links of people, joining edges and the health check is open to everyone', () => {
  expect(all.filter(([, { auth }]) => auth === 'none').map(([name]) => name)).toEqual([
    ...['health', 'edgeJoin', 'readInvite', 'acceptInvite'],
    ...['login', 'loginByCode', 'beginPasskeyLogin', 'loginByPasskey'],
    ...['getSignInWays', 'beginProviderLogin', 'loginByProvider'],
    ...['beginDevice', 'pollDevice'],
  ])
})

it('no API token can touch accounts, sessions or tokens of people', () => {
  const aboutPeople = all.filter(
    ([, { path, auth }]) =>
      /^\/api\/(auth|account|accounts|people|tokens|console-sign-in)(\/|$)/.test(path) && auth !== 'none',
  )
  const open = aboutPeople.filter(([, { isSessionOnly = false }]) => !isSessionOnly)
  expect(open.map(([name]) => name)).toEqual(['me'])
})

it('fills in a path, whatever the values hold', () => {
  expect(pathOf(endpoints.getService, { nodeId: 2, type: 'http', id: 5 })).toBe('/api/services/2/http/5')
  expect(pathOf(endpoints.getNode, { id: '../x?y' })).toBe('/api/nodes/..%2Fx%3Fy')
})

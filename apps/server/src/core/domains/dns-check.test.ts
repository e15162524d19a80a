import { type NameServer, startNameServer } from '@postern/testkit/name-server'
import { afterEach, expect, it } from 'vitest'
import { createResolver, findDnsProblem } from './dns-check.ts'

const servers: NameServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** @returns where a name server answers of `app.example.com` as given */
async function serve(answer: string[] | 'silent' | 'failure'): Promise<string> {
  const server = await startNameServer()
  servers.push(server)
  server.answers.set('app.example.com', answer)
  return server.address
}

it('finds the addresses of a name', async () => {
  const resolver = createResolver([await serve(['203.0.113.1'])])
  expect(await resolver.resolve('app.example.com')).toEqual(['203.0.113.1'])
  expect(await findDnsProblem(resolver, 'app.example.com', '203.0.113.1', [])).toBeUndefined()
  const problem = await findDnsProblem(resolver, 'app.example.com', '198.51.100.1', [])
  expect(problem).toBe('app.example.com points to 203.0.113.1, not to 198.51.100.1')
  expect(await findDnsProblem(resolver, 'app.example.com', '198.51.100.1', ['203.0.113.1'])).toBeUndefined()
})

it('compares with the addresses of the public host when that is a name', async () => {
  const resolver = {
    resolve: async (name: string) => (name === 'away.example.com' ? ['2001:db8::9'] : ['2001:DB8:0::1']),
  }
  expect(await findDnsProblem(resolver, 'app.example.com', 'postern.example.com', [])).toBeUndefined()
  const problem = await findDnsProblem(resolver, 'away.example.com', 'postern.example.com', [])
  expect(problem).toBe('away.example.com points to 2001:db8::9, not to 2001:db8::1')
})

it('gives up within 15 s, in words', async () => {
  const resolver = createResolver([await serve('silent')])
  const start = performance.now()
  const problem = await findDnsProblem(resolver, 'app.example.com', '203.0.113.1', [])
  expect(problem).toContain('the name servers did not answer')
  // Three seconds on a machine that has nothing else to do.
  expect(performance.now() - start).toBeLessThan(15_000)
})

it('says that the name servers failed, and names whom they failed on', async () => {
  const resolver = createResolver([await serve('failure')])
  expect(await findDnsProblem(resolver, 'app.example.com', '203.0.113.1', [])).toBe(
    'app.example.com could not be looked up: the name servers answered with SERVFAIL',
  )
  const other = {
    resolve: (name: string) =>
      name === 'x.example.com' ? Promise.resolve([]) : resolver.resolve('app.example.com'),
  }
  expect(await findDnsProblem(other, 'x.example.com', 'postern.example.com', [])).toBe(
    'postern.example.com could not be looked up: the name servers answered with SERVFAIL',
  )
})

it('lets every other fault travel', async () => {
  const resolver = { resolve: () => Promise.reject(new TypeError('a fault of our own')) }
  await expect(findDnsProblem(resolver, 'app.example.com', '203.0.113.1', [])).rejects.toThrow(TypeError)
})

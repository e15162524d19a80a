import { type NameServer, startNameServer } from '@postern/testkit/fakes/name-server'
import { afterEach, expect, it } from 'vitest'
import { createResolver } from './resolver.ts'

const servers: NameServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** @returns the address of a name server with these answers for `app.example.com` */
async function serve(answer: string[] | 'none' | 'silent' | 'failure'): Promise<string> {
  const server = await startNameServer()
  servers.push(server)
  server.answers.set('app.example.com', answer)
  return server.address
}

const resolve = async (answer: Parameters<typeof serve>[0]) =>
  await createResolver([await serve(answer)]).resolve('app.example.com')

it('finds the addresses of a name', async () => {
  expect(await resolve(['203.0.113.1', '203.0.113.2'])).toEqual(['203.0.113.1', '203.0.113.2'])
})

it('distinguishes a name that does not exist from one without an address', async () => {
  await expect(resolve('none')).rejects.toMatchObject({ why: 'absent' })
  expect(await resolve([])).toEqual([])
})

it('gives up within 15 s', async () => {
  const start = performance.now()
  await expect(resolve('silent')).rejects.toMatchObject({ why: 'silent' })
  // Three seconds on an idle machine.
  expect(performance.now() - start).toBeLessThan(15_000)
})

it('says by which error the name servers failed', async () => {
  await expect(resolve('failure')).rejects.toMatchObject({ why: 'SERVFAIL' })
})

import { startTestServer, TEST_NETWORK } from '@postern/testkit/server'
import { duringTest } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { LookupError } from '../../core/domains/resolver.ts'

describe('the public host', () => {
  const check = async (publicHost: string, addresses: string[], answer: string[] | Error) => {
    const resolver = {
      async resolve() {
        if (answer instanceof Error) throw answer
        return answer
      },
    }
    const network = () => ({ ...TEST_NETWORK, addresses })
    const visit = async () => ({ kind: 'refused' as const })
    const settings = { POSTERN_PUBLIC_HOST: publicHost }
    const server = await duringTest(() => startTestServer({ settings, world: { resolver, network, visit } }))
    return (await (await server.signIn()).get('/api/overview/public-host')).json()
  }

  it('leads here when DNS has an address of this machine', async () => {
    expect(await check('postern.example.com', ['203.0.113.1'], ['203.0.113.1'])).toEqual({
      host: 'postern.example.com',
      isName: true,
      problem: null,
    })
  })

  it('does not prove itself: what DNS names must be here or answer for it', async () => {
    const { problem } = await check('postern.example.com', ['203.0.113.1'], ['198.51.100.9'])
    expect(problem).toBe(
      'postern.example.com points to 198.51.100.9 (A), which refuses connections on port 80. Point it to 203.0.113.1. If that is your router or a CDN, let it pass port 80 on to this server.',
    )
  })

  it('may have no record yet', async () => {
    const { problem } = await check('postern.example.com', ['203.0.113.1'], new LookupError('absent'))
    expect(problem).toBe('postern.example.com has no DNS record. Point it to 203.0.113.1.')
  })

  it('needs no DNS as an address', async () => {
    expect(await check('203.0.113.1', [], new LookupError('absent'))).toEqual({
      host: '203.0.113.1',
      isName: false,
      problem: null,
    })
  })
})

import { shared } from '@postern/testkit/shared'
import { processorMs } from '@postern/testkit/time'
import { describe, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'
import { visit } from '../../../../test/visitor.ts'

const lab = shared(() => makeHaproxyLab())
const upstream = shared(() => startUpstream())
shared(() => startUpstream({ path: lab.serverSocket }))

async function status(from: string, host = 'a.example.com', path = '/', headers = {}): Promise<number> {
  const address = from.includes(':') ? '::1' : '127.0.0.1'
  return (await visit({ port: lab.httpsPort, host, path, from, address, headers })).status
}

function applyLists(allowedIps: string[], blockedIps: string[]) {
  return lab.apply([makeLabRoute(2, upstream.port, { domain: 'a.example.com', allowedIps, blockedIps })])
}

describe('an IP list', () => {
  test.each([
    { allowed: ['127.0.0.2'], blocked: [], yes: ['127.0.0.2'], no: ['127.0.0.3', '::1'] },
    { allowed: ['127.0.0.2/31'], blocked: [], yes: ['127.0.0.3'], no: ['127.0.0.4'] },
    { allowed: ['::1'], blocked: [], yes: ['::1'], no: ['127.0.0.1'] },
    { allowed: ['::/0'], blocked: [], yes: ['::1'], no: ['127.0.0.1'] },
    { allowed: ['0.0.0.0/0'], blocked: [], yes: ['127.0.0.1'], no: ['::1'] },
    { allowed: ['127.0.0.0/8'], blocked: ['127.0.0.9'], yes: ['127.0.0.8'], no: ['127.0.0.9'] },
    { allowed: [], blocked: ['127.0.0.9'], yes: ['127.0.0.8', '::1'], no: ['127.0.0.9'] },
    { allowed: [], blocked: ['::/0'], yes: ['127.0.0.1'], no: ['::1'] },
    { allowed: [], blocked: ['::ffff:127.0.0.9'], yes: ['127.0.0.8'], no: ['127.0.0.9'] },
    { allowed: [], blocked: ['::ffff:127.0.0.0/120'], yes: ['127.0.1.1'], no: ['127.0.0.9'] },
    {
      allowed: ['127.0.0.5', '127.0.0.0/16'],
      blocked: [],
      yes: ['127.0.0.5', '127.0.7.7'],
      no: ['127.1.0.1'],
    },
  ])('allows $allowed and blocks $blocked', async ({ allowed, blocked, yes, no }) => {
    expect(await applyLists(allowed, blocked)).toEqual([])
    for (const from of yes) expect([from, await status(from)]).toEqual([from, 200])
    for (const from of no) expect([from, await status(from)]).toEqual([from, 403])
  })

  test('applies to every path below the service, and ignores the address that a visitor claims', async () => {
    await applyLists(['127.0.0.2'], [])
    for (const path of ['/', '/a/b?c', '//', '/../', '/%2F', '/ws'])
      expect(await status('127.0.0.3', 'a.example.com', path, { 'x-forwarded-for': '127.0.0.2' })).toBe(403)
  })

  test('denies everybody when it cannot be read', async () => {
    await applyLists(['not an address'], [])
    expect(await status('127.0.0.1')).toBe(403)
    await applyLists([], ['not an address'])
    expect(await status('127.0.0.1')).toBe(403)
    // Whatever happens to the map: an incomplete list admits nobody.
    await applyLists(['127.0.0.0/8'], [])
    expect(await status('127.0.0.1')).toBe(200)
    await applyLists(['127.0.0.0/9'], [])
    await lab.command(`clear map ${lab.paths.lists}`)
    expect(await status('127.0.0.1')).toBe(403)
    await applyLists(['127.0.0.0/9'], [])
    expect(await status('127.0.0.1')).toBe(200)
  })

  test('of another service does not matter', async () => {
    await lab.apply([
      makeLabRoute(2, upstream.port, { domain: 'a.example.com' }),
      makeLabRoute(3, upstream.port, { domain: 'b.example.com', blockedIps: ['127.0.0.1'] }),
    ])
    expect(await status('127.0.0.1')).toBe(200)
    expect(await status('127.0.0.1', 'b.example.com')).toBe(403)
  })

  test('of a thousand networks decides as well, and costs HAProxy less than 25 ms more for a request', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => `2001:db8:${(i * 2).toString(16)}::/48`)
    await applyLists(
      [...many, '127.0.0.5'],
      many.map((each) => each.replace('db8', 'db9')),
    )
    const costOfOne = async () => {
      const before = processorMs(await lab.pid())
      for (let i = 0; i < 20; i++) expect(await status('127.0.0.5')).toBe(200)
      return (processorMs(await lab.pid()) - before) / 20
    }
    const cost = await costOfOne()
    expect(await status('127.0.0.6')).toBe(403)
    await applyLists([], [])
    expect(cost - (await costOfOne())).toBeLessThan(25)
  })

  test("of the console leaves the agents' paths open, and nothing else", async () => {
    await lab.apply([makeConsoleRoute({ allowedIps: ['127.0.0.2'], domain: 'c.example.com' })])
    for (const host of ['127.0.0.1', 'c.example.com']) {
      expect(await status('127.0.0.3', host, '/api/agent/config')).toBe(200)
      expect(await status('127.0.0.3', host, '/api/agent')).toBe(200)
      expect(await status('127.0.0.3', host, '/install/ca.crt')).toBe(200)
      for (const path of ['/', '/api/agents', '/api/nodes', '/installer', '/login'])
        expect([path, await status('127.0.0.3', host, path)]).toEqual([path, 403])
      expect(await status('127.0.0.3', host, '/api/agent/../nodes')).toBe(400)
      expect(await status('127.0.0.2', host, '/login')).toBe(200)
    }
  })
})

import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { findPointingProblem } from './domain-check.ts'
import { createProofs, type Proofs } from './proofs.ts'
import { LookupError } from './resolver.ts'
import type { Visited } from './visit.ts'

let dns: Record<string, string[] | Error>
let world: Record<string, Visited | 'passes on'>
let visited: string[]
let proofs: Proofs
const key = randomBytes(32)

beforeEach(() => {
  dns = {}
  world = {}
  visited = []
  proofs = createProofs({ keys: () => [key], clock: Date.now, randomBytes })
})

const resolver = {
  async resolve(name: string) {
    const answer = dns[name] ?? new LookupError('absent')
    if (answer instanceof Error) throw answer
    return answer
  },
}

async function visit(address: string, host: string, path: string): Promise<Visited> {
  visited.push(`${address} ${host}`)
  const nonce = path.slice('/.well-known/postern/'.length)
  const secret = proofs.find(nonce)
  const answer = world[address] ?? { kind: 'silent' }
  return answer === 'passes on' ? { kind: 'answered', status: 200, text: secret ?? '' } : answer
}

const HERE = { publicHost: '203.0.113.1', ownAddresses: ['192.168.1.5'] }

async function check(found: string[] | Error, here = HERE): Promise<string | undefined> {
  dns['app.example.com'] = found
  return await findPointingProblem({ resolver, visit, proofs }, 'app.example.com', here)
}

describe('a name leads here', () => {
  it('when DNS has only addresses of this server; no request is sent then', async () => {
    expect(await check(['203.0.113.1'])).toBeUndefined()
    expect(await check(['203.0.113.1', '192.168.1.5'])).toBeUndefined()
    dns['postern.example.com'] = ['2001:DB8:0::1', '203.0.113.7']
    const here = { ...HERE, publicHost: 'postern.example.com' }
    expect(await check(['2001:db8::1', '203.0.113.7'], here)).toBeUndefined()
    expect(visited).toEqual([])
  })

  it('when the addresses of a NAT or a CDN pass the request on', async () => {
    world['198.51.100.9'] = 'passes on'
    world['2001:db8::9'] = 'passes on'
    expect(await check(['198.51.100.9', '2001:db8::9'])).toBeUndefined()
    expect(visited).toEqual(['198.51.100.9 app.example.com', '2001:db8::9 app.example.com'])
  })

  it('when IPv4 does, although this machine has no IPv6', async () => {
    world['198.51.100.9'] = 'passes on'
    world['2001:db8::9'] = { kind: 'unreachable' }
    expect(await check(['198.51.100.9', '2001:db8::9'])).toBeUndefined()
    expect(await check(['203.0.113.1', '2001:db8::9'])).toBeUndefined()
  })
})

describe('a name that does not lead here', () => {
  it.each([
    [new LookupError('absent'), 'app.example.com has no DNS record. Point it to 203.0.113.1.'],
    [[], 'app.example.com has no address in DNS. Add an A or AAAA record that points to 203.0.113.1.'],
    [
      new LookupError('silent'),
      'app.example.com could not be looked up: the name servers did not answer. Try again in a moment.',
    ],
    [
      new LookupError('SERVFAIL'),
      'app.example.com could not be looked up: the name servers answered with SERVFAIL. Look at its zone, or try again in a moment.',
    ],
    [
      ['10.1.2.3'],
      'app.example.com points to 10.1.2.3 (A), a private address that visitors cannot reach. Point it to 203.0.113.1.',
    ],
  ])('gets a message with the DNS records: %s', async (found, words) => {
    expect(await check(found)).toBe(words)
    expect(visited).toEqual([])
  })

  it.each<[Visited, string]>([
    [{ kind: 'answered', status: 404, text: '' }, ', where another server answers. Point it to 203.0.113.1.'],
    [
      { kind: 'answered', status: 200, text: 'f'.repeat(64) },
      ', where another server answers. Point it to 203.0.113.1.',
    ],
    [
      { kind: 'answered', status: 301, text: '' },
      ', which redirects instead of answering for this server. Point it to 203.0.113.1. If that is a CDN, let it pass /.well-known/ on over plain HTTP.',
    ],
    [
      { kind: 'refused' },
      ', which refuses connections on port 80. Point it to 203.0.113.1. If that is your router or a CDN, let it pass port 80 on to this server.',
    ],
    [
      { kind: 'silent' },
      ', which does not answer on port 80. Point it to 203.0.113.1. If that is your router or a firewall, let it pass port 80 on to this server.',
    ],
    [{ kind: 'broken' }, ', which does not answer in HTTP on port 80. Point it to 203.0.113.1.'],
    [{ kind: 'unreachable' }, ', which this server cannot reach. Point it to 203.0.113.1.'],
  ])('says what the address did: %o', async (answer, words) => {
    world['198.51.100.9'] = answer
    expect(await check(['198.51.100.9'])).toBe(`app.example.com points to 198.51.100.9 (A)${words}`)
  })

  it('names each wrong address beside the right ones, with its record', async () => {
    world['2001:db8::9'] = { kind: 'refused' }
    expect(await check(['203.0.113.1', '2001:db8::9'])).toContain(
      'also points to 2001:db8::9 (AAAA), which refuses connections on port 80. Remove this record.',
    )
    world['198.51.100.9'] = { kind: 'answered', status: 404, text: '' }
    world['198.51.100.8'] = { kind: 'answered', status: 404, text: '' }
    expect(await check(['198.51.100.9', '198.51.100.8', '2001:db8::9', '10.0.0.1'])).toContain(
      'points to 198.51.100.9 (A) and 198.51.100.8 (A), where another server answers; and to 2001:db8::9 (AAAA), which refuses connections on port 80; and to 10.0.0.1 (A), a private address that visitors cannot reach. Point it to 203.0.113.1.',
    )
  })

  it("gets a message with this server's address, if that is known", async () => {
    const nameOnly = { ...HERE, publicHost: 'postern.example.com' }
    expect(await check([], nameOnly)).toContain('points to postern.example.com.')
    dns['postern.example.com'] = ['203.0.113.1', '2001:db8::1']
    expect(await check([], nameOnly)).toContain('points to 203.0.113.1 or 2001:db8::1.')
    expect(await check([], { ...HERE, publicHost: '10.0.0.5' })).toContain("to this server's public address.")
  })
})

it.each([
  '127.0.0.1',
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '192.168.0.1',
  '198.18.0.1',
  '168.63.129.16',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '64:ff9b::7f00:1',
  'fe80::1',
  'fd00::1',
  'ff02::1',
  '2001::1',
  '2002:7f00:1::1',
  'no address',
])('never asks %s', async (address) => {
  expect(await check([address])).toContain('a private address')
  expect(visited).toEqual([])
})

it('asks at most eight addresses', async () => {
  await check(Array.from({ length: 50 }, (_, index) => `198.51.100.${index + 1}`))
  expect(visited).toHaveLength(8)
})

it('passes on every other error', async () => {
  await expect(check(new TypeError('a fault of our own'))).rejects.toThrow(TypeError)
})

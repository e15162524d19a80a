import type { Peer } from '@postern/contract/edge/desired-state'
import { describe, expect, test } from 'vitest'
import { type FirewallPlan, planFirewall, tableOf } from './plan.ts'
import { type ObservedTable, renderFirewall } from './table.ts'

const settings = {
  publicHost: 'edge.example.com',
  formerHosts: [],
  tunnelPrivateKey: '',
  tunnelNetwork4: '10.64.0.0/16',
  tunnelNetwork6: 'fd00::/64',
  signInKeys: [],
  identityKeys: [],
}
const node = (changes: Partial<Peer> = {}): Peer => ({
  nodeId: 1,
  publicKey: '',
  presharedKey: '',
  address4: '10.64.0.2',
  address6: 'fd00::2',
  subnets: [],
  keepalive: 25,
  allowInternet: false,
  ...changes,
})
const plan = (peers: Peer[], tunnel = 'postern0') =>
  planFirewall({ interface: tunnel, httpsPort: 443, settings, peers, udp: [] })

test('the table of the default interface has the plain name, others carry theirs', () => {
  expect(tableOf('postern0')).toBe('postern')
  expect(tableOf('lab-7')).toBe('postern_lab_7')
})

test('the sets hold who may reach the internet and what is not the internet, without overlaps', () => {
  const gateway = node({ subnets: ['203.0.113.0/24', '203.0.113.128/25', '10.9.0.0/16', 'fd77::/64'] })
  const guest = node({ nodeId: 2, address4: '10.64.0.3', address6: 'FD00::3', allowInternet: true })
  const { sets } = plan([gateway, guest])
  expect(sets.internet4).toEqual(['10.64.0.3'])
  expect(sets.internet6).toEqual(['fd00::3'])
  expect(sets.private4).toContain('203.0.113.0/24')
  expect(sets.private4).not.toContain('203.0.113.128/25')
  expect(sets.private4).not.toContain('10.9.0.0/16')
  expect(sets.private6).toEqual(['::/3', '2001::/23', '2002::/16', '4000::/2', '8000::/1'])
})

test('only the edge beside the server lets nodes into the internet', () => {
  const at = (number: number) => {
    const edge = { number, servesConsole: false, isDrained: false }
    const peers = [node({ allowInternet: true })]
    return planFirewall({
      ...{ interface: 'postern0', httpsPort: 443, peers, udp: [] },
      settings: { ...settings, edge },
    })
  }
  expect(at(1)).toEqual(plan([node({ allowInternet: true })]))
  expect(at(2)).toEqual(plan([node()]))
})

test('an address outside of the tunnel is nobody who may reach the internet', () => {
  const stranger = node({ address4: '192.168.1.7', address6: 'fd99::7', allowInternet: true })
  expect(plan([stranger]).sets).toMatchObject({ internet4: [], internet6: [] })
})

/** What nft would list after it has taken the text in. */
function inForce(text: string): ObservedTable {
  const chains = text.split('  chain ').slice(1)
  const sets = [...text.matchAll(/(?:set|map) (\w+) \{[^}]*?(?:elements = \{ ([^}]*) \})?; \}/g)]
  return {
    chains: chains.map((chain) => {
      const [, name, hook, priority] = /^(\w+) .+?hook (\w+) priority (-?\d+)/s.exec(chain) ?? []
      return {
        head: `${name} ${hook} ${priority} accept`,
        comments: [...chain.matchAll(/comment "([^"]+)"/g)].map((match) => match[1] ?? ''),
      }
    }),
    sets: Object.fromEntries(sets.map(([, name, elements]) => [name, elements?.split(', ') ?? []])),
    counters: [...text.matchAll(/^ {2}counter (\w+)/gm)].map(([, name = '']) => name),
  }
}

describe('the change', () => {
  const wanted: FirewallPlan = plan([node({ allowInternet: true })])
  const present = inForce(renderFirewall(wanted, undefined))

  test('is the whole table when there is none, and nothing when it is right', () => {
    const text = renderFirewall(wanted, undefined)
    expect(text).toMatch(/^table inet postern \{\n/)
    expect(text).toContain('tcp dport 443 accept')
    expect(text.match(/^ {4}drop comment/gm)).toHaveLength(2)
    expect(renderFirewall(wanted, present)).toBe('')
  })

  test('is the differing elements alone', () => {
    const next = plan([node({ nodeId: 2, address4: '10.64.0.9', address6: 'fd00::9', allowInternet: true })])
    expect(renderFirewall(next, present)).toBe(
      'delete element inet postern internet4 { 10.64.0.2 }\n' +
        'add element inet postern internet4 { 10.64.0.9 }\n' +
        'delete element inet postern internet6 { fd00::2 }\n' +
        'add element inet postern internet6 { fd00::9 }\n',
    )
  })

  test.each<[string, ObservedTable]>([
    [
      'a rule is gone',
      { ...present, chains: present.chains.map((c) => ({ ...c, comments: c.comments.slice(1) })) },
    ],
    [
      'a rule was put in',
      { ...present, chains: present.chains.map((c) => ({ ...c, comments: ['', ...c.comments] })) },
    ],
    ['a chain is gone', { ...present, chains: present.chains.slice(1) }],
    ['a chain was put in', { ...present, chains: [...present.chains, { head: 'x', comments: [] }] }],
    ['a set is gone', { ...present, sets: { internet4: [] } }],
  ])('replaces the table in one transaction when %s', (_, observed) => {
    expect(renderFirewall(wanted, observed)).toMatch(/^delete table inet postern\ntable inet postern \{/)
  })

  test('makes a counter before something leads to it, and removes it after', () => {
    const udp = (id: number) => ({
      id,
      port: 32_660,
      target4: '10.64.0.2 . 53',
      target6: undefined,
      lists: { allowed: [], blocked: [] },
    })
    const of = (id: number) =>
      planFirewall({ interface: 'postern0', httpsPort: 443, settings, peers: [], udp: [udp(id)] })
    const lines = renderFirewall(of(6), inForce(renderFirewall(of(5), undefined))).split('\n')
    const at = (line: string) => {
      expect(lines).toContain(line)
      return lines.indexOf(line)
    }
    expect(at('add counter inet postern s6_in4')).toBeLessThan(
      at('add element inet postern in4 { 32660 : s6_in4 }'),
    )
    expect(at('delete element inet postern in4 { 32660 : s5_in4 }')).toBeLessThan(
      at('delete counter inet postern s5_in4'),
    )
    expect(renderFirewall(of(6), inForce(renderFirewall(of(6), undefined)))).toBe('')
  })

  test('replaces the table when the port of HTTPS is another one', () => {
    const other = planFirewall({ interface: 'postern0', httpsPort: 8443, settings, peers: [], udp: [] })
    expect(renderFirewall(other, present)).toMatch(/^delete table/)
  })
})

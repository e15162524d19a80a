import { addNamespace, beginLab } from '@postern/testkit/lab/namespace'
import { run } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ResolvedPortRoute } from '../resolved-route.ts'
import { planFirewall } from './plan.ts'
import { renderFirewall } from './table.ts'
import { findUdpService } from './udp.ts'

const machine = shared(
  async () => addNamespace(`${await beginLab()}-nft`),
  (it) => it.remove(),
)

const settings = {
  publicHost: 'edge.example.com',
  formerHosts: [],
  tunnelPrivateKey: '',
  tunnelNetwork4: '10.64.0.0/16',
  tunnelNetwork6: 'fd00::/64',
  signInKeys: [],
  identityKeys: [],
}

const hostile = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '1.2.3.4 } ; flush ruleset',
    '1.2.3.4\n',
    '::1 . 53',
    '@tunnel4',
    '0.0.0.0/0, 1.1.1.1',
    '',
    '$x',
  ),
)
const length = (most: number) => fc.integer({ min: 0, max: most }).map((bits) => `/${bits}`)
const network = fc.oneof(
  fc.tuple(fc.ipV4(), length(32)).map((parts) => parts.join('')),
  fc.tuple(fc.ipV6(), length(128)).map((parts) => parts.join('')),
  fc.ipV4(),
  fc.ipV6(),
)
const port = fc.integer({ min: 1, max: 65_535 })
const rows = (text: fc.Arbitrary<string>) =>
  fc.uniqueArray(
    fc.record({
      port,
      address: text,
      lists: fc.array(text, { maxLength: 12 }),
      isAllowed: fc.boolean(),
      to: port,
    }),
    { selector: (row) => row.port, maxLength: 12 },
  )

type Row = { port: number; address: string; lists: string[]; isAllowed: boolean; to: number }

function elementsOf(all: readonly Row[]) {
  const udp = all.flatMap(({ port, address, lists, isAllowed, to }, id) => {
    const route: ResolvedPortRoute = {
      id,
      proto: 'udp',
      port,
      node: { kind: 'local' },
      backend: { host: address, port: to },
      enabled: true,
      allowedIps: isAllowed ? lists : [],
      blockedIps: isAllowed ? [] : lists,
      address,
    }
    return findUdpService(route, [], settings) ?? []
  })
  return planFirewall({ interface: 'postern0', httpsPort: 443, settings, peers: [], udp })
}

const judge = (text: string) => run(machine.argv('nft', '-c', '-f', '-'), { input: text })

test('nft takes the services with any addresses and networks, overlapping or not', async () => {
  await fc.assert(
    fc.asyncProperty(rows(network), async (all) => {
      const { code, stderr } = await judge(renderFirewall(elementsOf(all), undefined))
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    }),
    { numRuns: 40 },
  )
})

test('nothing but numbers and addresses gets into the table, whatever a row holds', () => {
  fc.assert(
    fc.property(rows(fc.oneof(hostile, network)), (all) => {
      const elements = Object.values(elementsOf(all).sets).flat()
      for (const element of elements)
        expect(element).toMatch(/^[0-9a-f.:/]+( [:.] [0-9a-f.:/]+){0,2}$|^\d+ : s\d+_(in|out|flows)[46]$/)
    }),
  )
})

test('a list with an entry that cannot be read admits nobody, and no service is made of a bad address', () => {
  const row = { port: 32_670, address: '10.0.0.1', lists: ['1.2.3.4', 'x'], isAllowed: false, to: 53 }
  expect(elementsOf([row]).sets.udp4).toEqual([])
  expect(elementsOf([{ ...row, lists: [], address: '10.0.0.1 . 53' }]).sets.udp4).toEqual([])
  expect(elementsOf([{ ...row, lists: [] }]).sets.udp4).toEqual(['32670 : 10.0.0.1 . 53'])
})

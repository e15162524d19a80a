import { expect, test } from 'vitest'
import type { Gateway } from './backend.ts'
import { offerContainers } from './containers.ts'
import type { Container } from './engine.ts'

const LABELS = { 'postern.http.domain': 'a.example', 'postern.http.port': '80' }

function container(name: string, networks: Record<string, string>, labels = LABELS): Container {
  const list = Object.entries(networks).map(([network, address]) => ({ name: network, address }))
  return { id: name.padEnd(64, '0'), name, labels, ports: [], networks: list }
}

const gateway = container('gw', { shop: '172.18.0.2' }, {} as typeof LABELS)
const OWN: Gateway = { cidrs: ['127.0.0.1/8', '172.18.0.2/16'], networks: undefined }
const hostOf = (one: Container, own = OWN) => offerContainers([gateway, one], own).services[0]?.backendHost

test('a container on the same network is reached by its name, another one by its address', () => {
  expect(hostOf(container('web', { shop: '172.18.0.3' }))).toBe('web')
  expect(hostOf(container('web', { other: '172.19.0.3' }))).toBe('172.19.0.3')
  expect(hostOf(container('web', { other: '172.19.0.3', shop: '172.18.0.3' }))).toBe('web')
})

test('the short id replaces a name that DNS does not allow', () => {
  expect(hostOf(container('shop_web_1', { shop: '172.18.0.3' }))).toBe('shop_web_100')
})

test("Docker's first network resolves no names", () => {
  const inBridge = container('gw', { bridge: '172.17.0.2' }, {} as typeof LABELS)
  const web = container('web', { bridge: '172.17.0.3' })
  expect(
    offerContainers([inBridge, web], { ...OWN, cidrs: ['172.17.0.2/16'] }).services[0]?.backendHost,
  ).toBe('172.17.0.3')
})

test('an agent on the host itself reaches containers by their addresses', () => {
  expect(hostOf(container('web', { shop: '172.18.0.3' }), { ...OWN, cidrs: ['172.18.0.1/16'] })).toBe(
    '172.18.0.3',
  )
})

test('a container that cannot be published is reported, and does not affect others', () => {
  const { services, problems } = offerContainers(
    [
      container('host', { host: '' }),
      container('typo', { shop: '172.18.0.4' }, { ...LABELS, 'postern.http.prot': '81' } as typeof LABELS),
      container('web', { shop: '172.18.0.3' }),
    ],
    OWN,
  )
  expect(services.map(({ key }) => key)).toEqual(['web/http'])
  expect(problems).toEqual([
    "the container host is not published: it isn't on a network that this gateway can reach. Attach both to the same one",
    expect.stringMatching(/^the container typo is not published: Unknown label postern\.http\.prot/),
  ])
})

test('at most as many as the server accepts, and the same set whatever the order', () => {
  const many = Array.from({ length: 250 }, (_, n) => container(`web${n}`, { shop: `172.18.1.${n}` }))
  const first = offerContainers(many, OWN)
  expect(first.services).toHaveLength(200)
  expect(first.problems).toEqual([
    'only 200 of 250 services are published: the server takes no more of a source',
  ])
  expect(offerContainers([...many].reverse(), OWN)).toEqual(first)
})

test('networks that are missing in the console are named, so that a person can add them', () => {
  const containers = [
    gateway,
    container('web', { shop: '172.18.0.3' }),
    container('db', { far: '172.30.0.3' }),
  ]
  const problemsWith = (networks: Gateway['networks']) =>
    offerContainers(containers, { ...OWN, networks }).problems
  expect(problemsWith(undefined)).toEqual([])
  expect(problemsWith(['172.18.0.0/16', '172.30.0.0/24'])).toEqual([])
  expect(problemsWith(null)).toEqual([
    'the containers are out of reach: edit this node in the console, make it a gateway and add the network ' +
      '172.18.0.0/16, 172.30.0.3',
  ])
  expect(problemsWith(['172.18.0.0/16'])).toEqual([
    'some containers are out of reach: edit this node in the console and add the network 172.30.0.3',
  ])
})

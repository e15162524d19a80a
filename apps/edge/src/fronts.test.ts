import { expect, test } from 'vitest'
import { makePeer } from '../test/factories.ts'
import { createFronts } from './fronts.ts'

const guest = makePeer(2, { allowInternet: true })
const stateOf = (publicHost: string, peers = [guest]) => ({ settings: { publicHost }, peers })

function makeFronts() {
  let addresses: string[] = []
  const fronts = createFronts({ find: () => ({ addresses, reason: null }) })
  const answer = (...next: string[]) => {
    addresses = next
  }
  return { fronts, answer }
}

test('while the name has no answer, its last addresses count', () => {
  const { fronts, answer } = makeFronts()
  answer('203.0.113.2', '203.0.113.1')
  expect(fronts.find(stateOf('gate.example.com'))).toEqual(['203.0.113.1', '203.0.113.2'])
  answer()
  expect(fronts.find(stateOf('gate.example.com'))).toEqual(['203.0.113.1', '203.0.113.2'])
  expect(fronts.queries()).toMatchObject([{ name: 'gate.example.com', server: null }])
  expect(fronts.find(stateOf('other.example.com'))).toEqual([])
})

test('an address is not looked up, and nothing is without a node that has internet access', () => {
  const { fronts } = makeFronts()
  expect(fronts.find(stateOf('2001:db8:0::1'))).toEqual(['2001:db8::1'])
  expect(fronts.queries()).toEqual([])
  expect(fronts.find(stateOf('gate.example.com', [makePeer(3)]))).toEqual([])
  expect(fronts.queries()).toEqual([])
})

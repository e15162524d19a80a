import { expect, test } from 'vitest'
import { makePeer, makeState } from '../../../test/factories.ts'
import { createAdmission } from './admission.ts'
import type { Network } from './observe.ts'

const [OFFICE, ATTIC, TAKEN] = ['192.168.7.0/24', '192.168.8.0/24', '192.168.9.0/24']
const { settings } = makeState()
const wantedWith = (...subnets: string[]) => ({ settings, peers: [makePeer(2, { subnets })] })

/** An admission on a machine that answers at once, fails, or hangs until it answers. */
function makeAdmission() {
  const network: Network = { links: [], routes: [], occupied: [] }
  const hanging = Promise.withResolvers<Network>()
  const machine = { does: 'answer', now: 0, looks: 0 }
  const observe = async () => {
    machine.looks++
    if (machine.does === 'fail') throw new Error('ip did not end')
    return machine.does === 'hang' ? hanging.promise : network
  }
  const admission = createAdmission({ observe, clock: () => machine.now })
  const ask = async (wanted = wantedWith(OFFICE)) => (await admission.admit(wanted))[0]?.subnets
  return { machine, network, admission, ask, answer: () => hanging.resolve(network) }
}

test('checks once for the same peers, and again for others', async () => {
  const { machine, ask } = makeAdmission()
  const wanted = wantedWith(OFFICE)
  expect(await ask(wanted)).toEqual([OFFICE])
  expect(await ask(wanted)).toEqual([OFFICE])
  expect(machine.looks).toBe(1)
  expect(await ask(wantedWith(OFFICE, ATTIC))).toEqual([OFFICE, ATTIC])
  expect(machine.looks).toBe(2)
})

test('the tunnel begins with the reading that HAProxy waited for, if it is fresh', async () => {
  const { machine, admission } = makeAdmission()
  const wanted = wantedWith(OFFICE)
  await admission.admit(wanted)
  await admission.lookOnce(wanted)
  expect(machine.looks).toBe(1)
  await admission.lookOnce(wanted)
  expect(machine.looks).toBe(2)
  const next = wantedWith(ATTIC)
  await admission.admit(next)
  machine.now = 1_001
  await admission.lookOnce(next)
  expect(machine.looks).toBe(4)
})

test('without a reading, networks stay in the tunnel for a minute, and no new one comes in', async () => {
  const { machine, network, admission, ask } = makeAdmission()
  network.occupied.push({ network: { base: { family: 4, value: 0xc0a80900n }, prefix: 24 }, what: 'lan0' })
  expect(await ask(wantedWith(OFFICE, TAKEN))).toEqual([OFFICE])
  machine.does = 'fail'
  expect(await ask(wantedWith(OFFICE, ATTIC, TAKEN))).toEqual([OFFICE])
  expect(await ask(wantedWith(ATTIC))).toEqual([])
  machine.now = 60_001
  expect(await ask(wantedWith(OFFICE))).toEqual([])
  machine.does = 'answer'
  const wanted = wantedWith(OFFICE, ATTIC)
  await admission.look(wanted)
  expect(await ask(wanted)).toEqual([OFFICE, ATTIC])
})

test('nothing is in the tunnel before the first reading', async () => {
  const { machine, ask } = makeAdmission()
  machine.does = 'fail'
  expect(await ask()).toEqual([])
})

test('nobody waits twice for a reading that hangs, and its result counts in the end', async () => {
  const { machine, admission, ask, answer } = makeAdmission()
  await ask()
  machine.does = 'hang'
  const wanted = wantedWith(OFFICE, ATTIC)
  expect(await ask(wanted)).toEqual([OFFICE])
  expect(await ask(wantedWith(ATTIC))).toEqual([])
  expect(machine.looks).toBe(2)
  const looked = admission.lookOnce(wanted)
  answer()
  await looked
  expect(await ask(wanted)).toEqual([OFFICE, ATTIC])
  expect(machine.looks).toBe(2)
})

test('without a gateway nothing is read', async () => {
  const { machine, ask } = makeAdmission()
  expect(await ask(wantedWith())).toEqual([])
  expect(machine.looks).toBe(0)
})

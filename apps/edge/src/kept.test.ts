import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type {
  Peer,
  PortRoute,
  Route,
  SignIn,
  StateAnswer,
  TunnelSettings,
} from '@postern/contract/edge/desired-state'
import { rowsOf } from '@postern/contract/sections'
import { findIp } from '@postern/net/ip'
import { createRouteTable } from '@postern/render/haproxy/maps/route-table'
import { createSignInTable } from '@postern/render/haproxy/maps/sign-in'
import { tempDir } from '@postern/testkit/temp-dir'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  makeCertificate,
  makeChallenge,
  makePeer,
  makePortRoute,
  makeRoute,
  makeSettings,
  watchReads,
} from '../test/factories.ts'
import type { Names } from './names.ts'
import { type HeldState, readAnswer } from './state/held-state.ts'
import { createLastGood } from './state/last-good.ts'
import { createTargetFinder } from './targets.ts'

/**
 * After any sequence of states, what the edge keeps equals what is made from the last one alone: the lines of the
 * maps, the touched keys, the problems, and the state on disk.
 */

const machine = { ownNetworks: [], ownPorts: [443] }
const settings = makeSettings()
const gateway: Route['node'] = { kind: 'gateway', id: 2, address4: '10.64.0.3', subnets: ['192.168.7.0/24'] }
const peers = [makePeer(2), makePeer(2, { subnets: ['192.168.7.0/24'] }), makePeer(300)]

/** Few values, so that services share addresses, hosts with the console, and lists. */
const route = fc.record({
  id: fc.constantFrom(1, 2, 3, 199, 200, 201, 450),
  domain: fc.constantFrom(null, 'a.example.com', 'b.example.com', settings.publicHost),
  path: fc.constantFrom('/', '/x', '/api', '/login'),
  stripPath: fc.boolean(),
  node: fc.constantFrom<Route['node']>({ kind: 'local' }, makeRoute(1).node, gateway),
  backend: fc.record({
    proto: fc.constantFrom('http' as const, 'https' as const),
    host: fc.constantFrom(null, '192.168.7.9', 'nas.lan', '127.0.0.1'),
    port: fc.constantFrom(80, 443),
  }),
  enabled: fc.boolean(),
  system: fc.integer({ max: 9, min: 0 }).map((n) => n === 0),
  allowedIps: fc.constantFrom<string[][]>([], ['192.0.2.0/24'], ['not an address']),
  blockedIps: fc.constantFrom<string[][]>([], ['192.0.2.7']),
  signIn: fc.constantFrom<Route['signIn']>(
    null,
    { paths: [], expressions: [] },
    { paths: ['/x'], expressions: ['bo2f'] },
  ),
})
const signIn: fc.Arbitrary<SignIn> = fc.record({
  id: fc.constantFrom(1, 2, 201),
  domain: fc.constantFrom('a.example.com', 'b.example.com'),
  members: fc.uniqueArray(fc.constantFrom(1, 2, 3)),
})
const key = (id: string) => ({ id, secret: id.padEnd(43, 'x') })
const point = (id: string) => ({ id, x: id.padEnd(43, 'x'), y: id.padEnd(43, 'y') })
const port: fc.Arbitrary<PortRoute> = fc
  .record({
    id: fc.constantFrom(4, 5, 203),
    port: fc.constantFrom(32_660, 32_661),
    domain: fc.constantFrom(undefined, null, 'a.example.com'),
  })
  .map(({ domain, ...rest }) =>
    makePortRoute(rest.id, { ...rest, tls: domain === undefined ? null : { domain } }),
  )
const world = fc.record({
  ports: fc.uniqueArray(port, { selector: ({ id }) => id }),
  routes: fc.uniqueArray(route, { selector: ({ id }) => id, maxLength: 7 }),
  signIns: fc.uniqueArray(signIn, { selector: ({ domain }) => domain, maxLength: 2 }).map(withOwnMembers),
  signInKeys: fc.constantFrom<TunnelSettings['signInKeys']>([], [key('a')], [key('b'), key('a')]),
  identityKeys: fc.constantFrom<TunnelSettings['identityKeys']>([], [point('a')], [point('b'), point('a')]),
  peers: fc.uniqueArray(fc.constantFrom(...peers), { selector: ({ nodeId }) => nodeId }),
  challenges: fc.uniqueArray(fc.constantFrom(1, 2, 250).map(makeChallenge), { selector: ({ id }) => id }),
  certificates: fc.uniqueArray(fc.constantFrom(0, 1, 7).map(makeCertificate), { selector: ({ id }) => id }),
  publicHost: fc.constantFrom(settings.publicHost, 'b.example.com'),
  answer: fc.constantFrom('192.168.7.20', '192.168.7.21', '127.0.0.1', null),
})
/** As in the database: each domain's id exists once, and an entry belongs to one domain. */
function withOwnMembers(signIns: SignIn[]): SignIn[] {
  const [first, second] = signIns
  if (!first || !second) return signIns
  const rest = second.members.filter((id) => !first.members.includes(id))
  return second.id === first.id ? [first] : [first, { ...second, members: rest }]
}

type World = typeof world extends fc.Arbitrary<infer T> ? T : never

test('after any sequence of states the kept result equals the one that is made from nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(world, { minLength: 1, maxLength: 6 }), async (worlds) => {
      const dir = tempDir()
      const file = join(dir, 'state.json')
      const [lastGood, chain] = [createLastGood(file), createChain()]
      let held: HeldState | undefined
      const mirror = {
        routes: new Map<string, string>(),
        lists: new Map<string, string>(),
        signIn: new Map<string, string>(),
      }
      for (const [index, each] of worlds.entries()) {
        const known = held?.hashes ?? {}
        held = readAnswer(answerOf(each, index, known), held, known).state
        const fresh = readAnswer(answerOf(each, index, {}), undefined, {}).state
        expect(held).toEqual(fresh)
        const kept = chain(held, each.answer)
        const { touched: _, signInTouched: __, ...made } = createChain()(fresh, each.answer)
        expect(kept).toMatchObject(made)
        expect([kept.routes, kept.lists]).toEqual([made.routes, made.lists])
        expect(kept.signIn).toEqual(made.signIn)
        follow(mirror.signIn, kept.signIn, kept.signInTouched)
        expect(mirror.signIn).toEqual(new Map(made.signIn))
        // The touched keys cover all changes.
        for (const name of ['routes', 'lists'] as const) {
          follow(mirror[name], kept[name], kept.touched[name])
          expect(mirror[name]).toEqual(new Map(made[name]))
        }
        await lastGood.save(held)
        expect(inOrder(await createLastGood(file).find())).toEqual(inOrder(fresh))
      }
    }),
    { numRuns: 80 },
  )
}, 120_000)

test('rows of a section that did not change are not read again, up to the state on disk', async () => {
  const dir = tempDir()
  const [lastGood, chain] = [createLastGood(join(dir, 'state.json')), createChain()]
  const routes = Array.from({ length: 1000 }, (_, index) => makeRoute(index + 1))
  const { publicHost, signInKeys, identityKeys } = settings
  const none = { ports: [], peers: [], certificates: [], signIns: [], challenges: [] }
  const asked = { ...none, routes, publicHost, signInKeys, identityKeys }
  let held = readAnswer(answerOf(asked, 1, {}), undefined, {}).state
  let reads = 0
  const watched = [...held.sections.routes].map(
    ([name, rows]) => [name, rows.map((row) => watchReads(row, () => reads++))] as const,
  )
  const first = held.sections.routes.get('routes:0') ?? []
  const sections = new Map([...watched, ['routes:0', first] as const])
  held = { ...held, sections: { ...held.sections, routes: sections } }
  const step = async () => {
    chain(held, null)
    await lastGood.save(held)
  }
  await step()
  expect(reads).toBeGreaterThan(0)
  reads = 0
  const moved = { ...asked, routes: [makeRoute(1, { path: '/moved' }), ...routes.slice(1)] }
  held = readAnswer(answerOf(moved, 2, held.hashes), held, held.hashes).state
  await step()
  expect([...chain(held, null).routes.keys()]).toContain('s1.example.com/moved/')
  expect(reads).toBe(0)
})

/** The rows of all sections are in the order of the sections, and that one may differ. */
function inOrder(state: HeldState | undefined) {
  const peers = state?.peers.toSorted((a, b) => a.nodeId - b.nodeId)
  return { ...state, peers, certificates: state?.certificates.toSorted((a, b) => a.id - b.id) }
}

/** The steps from the state to the lines for HAProxy. */
function createChain() {
  const names = makeNames()
  const finder = createTargetFinder<Route>(names)
  const table = createRouteTable((text) => createHash('sha256').update(text).digest('hex').slice(0, 32))
  const signInTable = createSignInTable()
  return ({ settings, peers, sections }: HeldState, answer: string | null) => {
    names.say(answer)
    const { sections: routes, problems } = finder.resolve(sections.routes, { settings, peers, machine })
    const rendered = table.update(routes, [settings.publicHost, ...settings.formerHosts])
    const { lines: signIn, touched: signInTouched } = signInTable.update(
      sections.signIns,
      settings,
      rendered.routes,
    )
    return { ...rendered, signIn, signInTouched, problems, resolved: rowsOf(routes) }
  }
}

function makeNames(): Names & { say(answer: string | null): void } {
  let known = { addresses: [] as string[], reason: null as string | null }
  let revision = 0
  return {
    say(answer) {
      const addresses = answer !== null && findIp(answer) ? [answer] : []
      if (known.addresses.join() !== addresses.join() || revision === 0) revision++
      known = { addresses, reason: answer === null ? 'gone' : null }
    },
    find: () => known,
    revision: () => revision,
    refresh: () => undefined,
    begin: () => undefined,
    answers: () => [],
    isBusy: () => false,
    settled: async () => undefined,
    close: () => undefined,
  }
}

/** Answers like a server: hashes of all sections, and only the sections that the edge does not hold. */
function answerOf(
  each: Omit<World, 'answer' | 'routes'> & { routes: readonly Route[] },
  revision: number,
  known: Record<string, string>,
) {
  const whole = {
    settings: {
      ...settings,
      publicHost: each.publicHost,
      signInKeys: each.signInKeys,
      identityKeys: each.identityKeys,
    },
    signIns: [...each.signIns].sort((a, b) => a.id - b.id),
    peers: [...each.peers].sort((a, b) => a.nodeId - b.nodeId),
    routes: [...each.routes].sort((a, b) => a.id - b.id),
    ports: [...each.ports].sort((a, b) => a.id - b.id),
    challenges: [...each.challenges].sort((a, b) => a.id - b.id),
    certificates: [...each.certificates].sort((a, b) => a.id - b.id),
  }
  const hashes: Record<string, string> = { settings: JSON.stringify(whole.settings) }
  const note = (name: string, row: unknown) => {
    hashes[name] = (hashes[name] ?? '') + JSON.stringify(row)
  }
  const part = (id: number) => Math.floor(id / 200)
  for (const row of whole.peers) note(`peers:${part(row.nodeId)}`, row)
  for (const row of whole.routes) note(`routes:${part(row.id)}`, row)
  for (const row of whole.ports) note(`ports:${part(row.id)}`, row)
  for (const row of whole.signIns) note(`sign-in:${part(row.id)}`, row)
  for (const row of whole.challenges) note(`challenges:${part(row.id)}`, row)
  for (const row of whole.certificates) note(`certificates:${Math.floor(row.id / 16)}`, row)
  const isNew = (name: string) => known[name] !== hashes[name]
  const sections: StateAnswer['sections'] = {
    peers: structuredClone(whole.peers.filter((row: Peer) => isNew(`peers:${part(row.nodeId)}`))),
    routes: structuredClone(whole.routes.filter((row) => isNew(`routes:${part(row.id)}`))),
    ports: structuredClone(whole.ports.filter((row) => isNew(`ports:${part(row.id)}`))),
    signIns: structuredClone(whole.signIns.filter((row) => isNew(`sign-in:${part(row.id)}`))),
    challenges: structuredClone(whole.challenges.filter((row) => isNew(`challenges:${part(row.id)}`))),
    certificates: structuredClone(
      whole.certificates.filter((row) => isNew(`certificates:${Math.floor(row.id / 16)}`)),
    ),
  }
  if (isNew('settings')) sections.settings = whole.settings
  return { revision, hashes, sections }
}

function follow(
  mirror: Map<string, string>,
  all: ReadonlyMap<string, string>,
  touched: ReadonlySet<string>,
): void {
  for (const key of touched) {
    const value = all.get(key)
    if (value === undefined) mirror.delete(key)
    else mirror.set(key, value)
  }
}

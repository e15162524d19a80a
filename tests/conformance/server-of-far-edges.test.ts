import { X509Certificate } from 'node:crypto'
import { StateAnswer } from '@postern/contract/edge/desired-state'
import type { EdgeHint } from '@postern/contract/edge/edge-messages'
import { edgeLeaf, makeEdgesAuthority, SERVER_LEAF } from '@postern/testkit/authority/edges-authority'
import { addEdgeMachine, startServerForEdges } from '@postern/testkit/edge-machine'
import { startFarFakeServer } from '@postern/testkit/fakes/fake-server'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type Identity,
  type IdentityStore,
  openIdentity,
  writeIdentity,
} from '../../apps/edge/src/identity/identity.ts'
import { createMembership } from '../../apps/edge/src/identity/membership.ts'
import { createServerLink, type ServerLink } from '../../apps/edge/src/link/server-link.ts'
import { createTlsWay } from '../../apps/edge/src/link/tls-way.ts'
import { makeState } from '../../apps/edge/test/factories.ts'

/** What an edge elsewhere may expect of its server: the real one and the double of the edge's tests pass the same tests. */
interface Subject {
  /** What an edge has once it has joined. */
  identity: Identity
  close(): Promise<void>
}

const log = pino({ level: 'silent' })

describe.each([
  ['the real server', startReal],
  ['the fake server', startFake],
])('%s', (_, startSubject) => {
  let link: ServerLink | undefined
  const subject = shared(startSubject)
  afterEach(() => link?.close())

  async function connect(): Promise<{ store: IdentityStore; link: ServerLink; hints: EdgeHint[] }> {
    const directory = `${tempDir()}/identity`
    await writeIdentity(directory, subject.identity)
    const store = await openIdentity(directory)
    if (!store) throw new Error('no identity')
    const hints: EdgeHint[] = []
    let isConnected = false
    const made = createServerLink({
      ...{ way: createTlsWay(store), version: '0.1.0', epoch: 'e', random: Math.random, log },
      onHint: (hint) => hints.push(hint),
      onReconnect() {
        isConnected = true
      },
    })
    link = made
    made.start()
    await until('the connection', () => isConnected)
    return { store, link: made, hints }
  }

  test('lets the edge connect, tells it the newest revision, and gives it the state', async () => {
    const edge = await connect()
    const hint = await until('the hint', () => edge.hints.find(({ type }) => type === 'changed'))
    const state = StateAnswer.parse(await edge.link.fetchState({}))
    expect(hint).toEqual({ type: 'changed', revision: state.revision })
    expect(state.sections.settings).toBeDefined()
  })

  test('renews its certificate for the key that it has', async () => {
    const { store, link } = await connect()
    const before = new X509Certificate(store.current().certificate)
    const end = before.validToDate.getTime()
    await createMembership({
      ...{ identity: store, fetchCertificate: link.fetchCertificate, log },
      now: () => end - 1000,
    }).look()
    const after = new X509Certificate(store.current().certificate)
    expect(after.serialNumber).not.toBe(before.serialNumber)
    expect(after.subjectAltName).toBe(before.subjectAltName)
    expect(after.publicKey.equals(before.publicKey)).toBe(true)
  })
})

async function startReal(): Promise<Subject> {
  const server = await startServerForEdges()
  const { privateKey, joined } = await addEdgeMachine(server, { name: 'Frankfurt' })
  const { edgeId, certificate, root, servers, known } = joined
  return {
    identity: { key: privateKey, certificate, root, known: { edgeId, servers, ...known } },
    close: () => server.close(),
  }
}

async function startFake(): Promise<Subject> {
  const authority = await makeEdgesAuthority()
  const { root } = authority
  const fake = await startFarFakeServer({ ...(await authority.issue(SERVER_LEAF)), root }, makeState())
  fake.certify = async (csr) => ({ certificate: await authority.sign(csr, edgeLeaf(2)), root })
  const { tunnelNetwork4, tunnelNetwork6, publicHost } = fake.state.settings
  const servers = [{ name: 'Server', url: `https://127.0.0.1:${fake.port}` }]
  return {
    identity: {
      ...(await authority.issue(edgeLeaf(2))),
      ...{ root, known: { edgeId: 2, tunnelNetwork4, tunnelNetwork6, publicHost, servers } },
    },
    close: fake.close,
  }
}

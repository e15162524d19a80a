import { generateKeyPairSync, randomBytes } from 'node:crypto'
import {
  type Challenge,
  certificatesSectionOf,
  challengesSectionOf,
  type DesiredState,
  type EdgeCertificate,
  type Peer,
  type PortRoute,
  peersSectionOf,
  portsSectionOf,
  type Route,
  routesSectionOf,
  type StateAnswer,
  signInsSectionOf,
  type TunnelSettings,
} from '@postern/contract/edge/desired-state'
import { type HeldState, readAnswer } from '../src/state/held-state.ts'

/** An enabled route to a plain node. */
export function makeRoute(id: number, changes: Partial<Route> = {}): Route {
  return {
    id,
    domain: `s${id}.example.com`,
    path: '/',
    node: { kind: 'plain', id: 2, address4: '10.64.0.2' },
    backend: { proto: 'http', host: null, port: 8080 },
    enabled: true,
    system: false,
    allowedIps: [],
    blockedIps: [],
    signIn: null,
    stripPath: false,
    ...changes,
  }
}

/** An enabled TCP route to a plain node, with TLS from end to end. */
export function makePortRoute(
  id: number,
  changes: Partial<Extract<PortRoute, { proto: 'tcp' }>> = {},
): PortRoute {
  return {
    id,
    proto: 'tcp',
    port: 32_000 + id,
    tls: null,
    node: { kind: 'plain', id: 2, address4: '10.64.0.2' },
    backend: { host: null, port: 1883 },
    enabled: true,
    allowedIps: [],
    blockedIps: [],
    ...changes,
  }
}

export function makeCertificate(id: number): EdgeCertificate {
  return { id, domains: [`s${id}.example.com`], chain: `chain ${id}`, privateKey: `key ${id}` }
}

export function makeChallenge(id: number): Challenge {
  return { id, domain: `s${id}.example.com`, token: `token-${id}`, thumbprint: 'p'.repeat(43) }
}

export function makeState(changes: Partial<DesiredState> = {}): DesiredState {
  const certificates = changes.certificates ?? []
  const parts = changes.routes?.map(({ id }) => [routesSectionOf(id), 'r1']) ?? []
  const ports = changes.ports?.map(({ id }) => [portsSectionOf(id), 't1']) ?? []
  const signIns = changes.signIns?.map(({ id }) => [signInsSectionOf(id), 'l1']) ?? []
  const peers = changes.peers?.map(({ nodeId }) => [peersSectionOf(nodeId), 'p1']) ?? []
  const challenges = changes.challenges?.map(({ id }) => [challengesSectionOf(id), 'a1']) ?? []
  const ids = certificates.map(({ id }) => [certificatesSectionOf(id), 'c1'])
  return {
    revision: 7,
    hashes: {
      settings: 's1',
      ...Object.fromEntries([...peers, ...parts, ...ports, ...signIns, ...challenges, ...ids]),
    },
    settings: makeSettings(),
    peers: [],
    routes: [],
    ports: [],
    signIns: [],
    challenges: [],
    certificates,
    ...changes,
  }
}

/** As the edge holds it. */
export function holdState(state: DesiredState): HeldState {
  return readAnswer(answerOf(state), undefined, {}).state
}

/** As the server sends it to an edge that holds nothing. */
export function answerOf({ revision, hashes, ...sections }: DesiredState): StateAnswer {
  return { revision, hashes, sections }
}

export function makeKeys(): { privateKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  const raw = (der: Buffer) => der.subarray(-32).toString('base64')
  return {
    privateKey: raw(privateKey.export({ format: 'der', type: 'pkcs8' })),
    publicKey: raw(publicKey.export({ format: 'der', type: 'spki' })),
  }
}

export function makeSettings(): TunnelSettings {
  return {
    publicHost: 'edge.example.com',
    formerHosts: [],
    tunnelPrivateKey: makeKeys().privateKey,
    tunnelNetwork4: '10.64.0.0/16',
    tunnelNetwork6: 'fd00:1:2::/64',
    signInKeys: [],
    identityKeys: [],
  }
}

export function makePeer(nodeId: number, changes: Partial<Peer> = {}): Peer {
  return {
    nodeId,
    publicKey: makeKeys().publicKey,
    presharedKey: randomBytes(32).toString('base64'),
    address4: `10.64.0.${nodeId + 1}`,
    address6: `fd00:1:2::${(nodeId + 1).toString(16)}`,
    subnets: [],
    keepalive: 25,
    allowInternet: false,
    ...changes,
  }
}

/** The same row, which reports each read of one of its fields. */
export function watchReads<T extends object>(row: T, onRead: () => void): T {
  return new Proxy(row, {
    get(target, key) {
      onRead()
      return Reflect.get(target, key)
    },
    has(target, key) {
      onRead()
      return Reflect.has(target, key)
    },
  })
}

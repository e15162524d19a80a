import type { DesiredState, EdgeCertificate, Route } from '@postern/contract/desired-state'
import { makeSettings } from './lab.ts'

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
    ...changes,
  }
}

export function makeCertificate(id: number): EdgeCertificate {
  return { id, domains: [`s${id}.example.com`], chain: `chain ${id}`, privateKey: `key ${id}` }
}

export function makeState(changes: Partial<DesiredState> = {}): DesiredState {
  const certificates = changes.certificates ?? []
  const hashes = { settings: 's1', peers: 'p1', routes: 'r1' }
  const ids = certificates.map(({ id }) => [`certificate:${id}`, `c${id}`])
  return {
    revision: 7,
    hashes: { ...hashes, ...Object.fromEntries(ids) },
    settings: makeSettings(),
    peers: [],
    routes: [],
    certificates,
    ...changes,
  }
}

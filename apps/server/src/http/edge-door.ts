import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { PROOF_PATH } from '@postern/contract/reserved-paths'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { hashOfKey } from '../certificates/edges-authority.ts'
import type { Context } from '../context.ts'
import { findEdgeRow } from '../core/edges/rows.ts'
import { ForbiddenError, UnauthenticatedError } from '../core/errors.ts'
import type { EdgeRow } from '../db/schema.ts'

/** The edge at the other end of a connection, as its certificate says. */
export interface EdgeIdentity {
  edgeId: number
  /** SHA-256 in hex of the certificate's key. */
  key: string
  /** Its end, in ms since the epoch. */
  until: number
}

/** The port for edges on other machines: each of its connections is one of an edge. */
export interface EdgeDoor {
  identityOf(socket: Socket): EdgeIdentity | undefined
}

/** @returns undefined for a certificate that is no edge's */
export function readIdentity(certificate: X509Certificate | undefined): EdgeIdentity | undefined {
  const [, id] = /^URI:postern:edge:([1-9]\d{0,14})$/.exec(certificate?.subjectAltName ?? '') ?? []
  if (certificate === undefined || id === undefined) return undefined
  const key = hashOfKey(certificate.publicKey.export({ type: 'spki', format: 'der' }))
  return { edgeId: Number(id), key, until: certificate.validToDate.getTime() }
}

/** The edge's row, while it has this certificate's key; undefined once it was removed, or joined by another machine. */
export async function findAdmitted(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  { edgeId, key, until }: EdgeIdentity,
): Promise<EdgeRow | undefined> {
  const row = await findEdgeRow(db, edgeId)
  return row?.certificate_key === key && clock() < until ? row : undefined
}

/** @throws UnauthenticatedError unless the connection is that of an edge that still is one */
export async function admitEdge(context: Context, request: FastifyRequest, door: EdgeDoor): Promise<EdgeRow> {
  const identity = door.identityOf(request.raw.socket)
  const row = identity && (await findAdmitted(context, identity))
  if (!row)
    throw new UnauthenticatedError('This edge was removed, or another machine has joined in its place')
  return row
}

/** HAProxy of an edge names the visitor; an edge that speaks for itself names none. */
export function isHandedOn({ headers }: FastifyRequest): boolean {
  return headers['x-forwarded-for'] !== undefined
}

const OWN: ReadonlySet<string> = new Set(
  [endpoints.edgeState, endpoints.edgeSocket, endpoints.edgeCertificate, endpoints.health].map(
    ({ path }) => path,
  ),
)
/** What visitors of services need, at whatever edge they are. */
const FOR_VISITORS = ['/.postern/', `${PROOF_PATH}/`]

/**
 * Admits the edge of each request, and holds it to what it may ask for itself or hand on for others: without the
 * console, nothing that has a password or a token of a person, a program or a node.
 */
export function guardDoor(app: FastifyInstance, door: EdgeDoor): void {
  app.addHook('onRequest', async (request) => {
    const edge = await admitEdge(request.server.context, request, door)
    // The pattern of the route, so that no spelling of an address is another.
    const url = request.routeOptions.url ?? ''
    if (!isHandedOn(request) && OWN.has(url)) return
    if (isHandedOn(request) && FOR_VISITORS.some((start) => url.startsWith(start))) return
    if (isHandedOn(request) && edge.is_console === 1) return
    throw new ForbiddenError('This edge does not serve the console', 'kind')
  })
}

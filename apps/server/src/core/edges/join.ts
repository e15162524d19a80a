import type { CertificateAnswer, JoinAnswer, JoinForm } from '@postern/contract/edge/join'
import { parseCidr, single } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import { isForPrivateUse, isSpecial } from '@postern/net/special'
import { findRequestedKey, type RequestedKey } from '../../certificates/edges-authority.ts'
import type { Actor } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { type Arrival, sourceOf } from '../accounts/sources.ts'
import { ConflictError, UnauthenticatedError, ValidationError } from '../errors.ts'
import { writeEdge } from './edit.ts'
import { findByJoinToken } from './join-tokens.ts'
import { getEdgeRow } from './rows.ts'
import { getServers } from './servers.ts'
import { whyNotVersion } from './versions.ts'

/** Unknown tokens from one source in ten minutes; known ones are not affected. */
const UNKNOWN_PER_SOURCE = 20

/**
 * A machine becomes the edge whose token it has. Joined again, the edge keeps its number and the tunnel's key, so that
 * nodes notice nothing; the certificate of the machine before ends.
 * @throws UnauthenticatedError for a token that is unknown, used or over; ValidationError, ConflictError, TooManyError
 */
export async function joinEdge(context: Context, form: JoinForm, arrival: Arrival): Promise<JoinAnswer> {
  const token = await findByJoinToken(context, context.db, form.token)
  if (!token) {
    const { network } = sourceOf(arrival)
    context.joinAttempts.check(network, UNKNOWN_PER_SOURCE)
    context.joinAttempts.add(network, 1)
    throw unknownToken()
  }
  const servers = getServers(context.config)
  const unfit = whyNotVersion(context.config.version, form.version)
  if (unfit !== undefined) throw new ConflictError(unfit)
  const key = await readKey(form.csr)
  const { edgeId } = token
  const { certificate, notAfter } = await context.edgesAuthority.issueEdge(edgeId, key)
  const root = await context.edgesAuthority.root()
  const actor: Actor = { kind: 'edge', id: edgeId, name: `edge ${edgeId}`, address: arrival.address || null }
  const edge = await change(context, { actor, what: 'edge joined' }, async (tx) => {
    // Used only once: of two machines at the same time, too.
    const used = await tx.deleteFrom('join_tokens').where('hash', '=', token.hash).returning('hash').execute()
    if (used.length === 0) throw unknownToken()
    const row = await getEdgeRow(tx, edgeId)
    const holder = await tx.selectFrom('edges').select('id').where('certificate_key', '=', key.hash).execute()
    if (holder.some(({ id }) => id !== edgeId))
      throw new ConflictError('Another edge has this key', [
        { field: 'csr', message: 'needs a key of its own' },
      ])
    await writeEdge(context, tx, row, {
      ...{ certificate_key: key.hash, certificate_until: notAfter.toISOString() },
      ...{ tunnel_port: form.tunnelPort, addresses: JSON.stringify(form.machine.addresses) },
      ...{ joined_at: new Date(context.clock()).toISOString(), host: row.host ?? hostOf(form, arrival) },
    })
    return { value: row, touched: { edges: [edgeId], tunnelEnds: true }, name: row.name }
  })
  const { network4, network6 } = context.tunnel
  const known = { tunnelNetwork4: network4, tunnelNetwork6: network6, publicHost: context.config.publicHost }
  return { edgeId, number: edge.number, name: edge.name, certificate, root, servers, known }
}

/**
 * The next certificate of an edge that joined, with the key that it has: all that HAProxy and the edge have open goes
 * on, and a key that is taken from the row ends all of its certificates.
 * @throws ValidationError for another key
 */
export async function renewEdgeCertificate(
  context: Context,
  actor: Actor,
  edgeId: number,
  csr: string,
): Promise<CertificateAnswer> {
  const key = await readKey(csr)
  const { certificate, notAfter } = await context.edgesAuthority.issueEdge(edgeId, key)
  const root = await context.edgesAuthority.root()
  return await change(context, { actor, what: 'certificate of edge renewed' }, async (tx) => {
    const row = await getEdgeRow(tx, edgeId)
    if (row.certificate_key !== key.hash) throw wrongRequest('must have the key that the edge joined with')
    await writeEdge(context, tx, row, { certificate_until: notAfter.toISOString() })
    return { value: { certificate, root }, touched: { edges: [edgeId] }, name: row.name }
  })
}

function unknownToken(): UnauthenticatedError {
  return new UnauthenticatedError(
    'This token lets no machine join: it was used, an hour is over, or its edge was removed. Make a new one in the console, on the page Edges.',
  )
}

const wrongRequest = (message: string) => new ValidationError([{ field: 'csr', message }])

/** @throws ValidationError */
async function readKey(csr: string): Promise<RequestedKey> {
  const key = await findRequestedKey(csr)
  if (!key) throw wrongRequest('must be signed by its own key, of the curve P-256')
  return key
}

/**
 * Where nodes may find it, if no person said: the address that it came from, if the machine has it; otherwise one of
 * the internet, or the machine's first.
 */
function hostOf({ machine }: JoinForm, { address }: Arrival): string | null {
  const [source] = listAddresses([address])
  const own = listAddresses(machine.addresses)
  if (source && own.includes(source)) return source
  const all = [...(source ? [source] : []), ...own]
  return all.find((text) => !isForPrivateUse(parseCidr(text))) ?? own[0] ?? source ?? null
}

/** Those that another machine may reach. */
function listAddresses(texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    const ip = findIp(text.replace(/^::ffff:(?=\d+\.)/i, ''))
    return ip && !isSpecial(single(ip)) ? [formatIp(ip)] : []
  })
}

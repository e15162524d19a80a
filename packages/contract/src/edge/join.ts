import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { CONTROL_URL } from '../settings/control-settings.ts'
import { TOKEN_PREFIXES } from '../tokens.ts'
import { Edge } from './edge.ts'

/** Edges on machines of their own: what people set for them, and how one joins. */

/** What a person sets for an edge. */
export const EdgeForm = z.strictObject({
  name: f.name,
  /** Where it stands, in a person's words. */
  place: f.blankable(f.name),
  /** The name or address at which nodes and visitors reach it. Without one nodes use the installation's public host. */
  host: f.blankable(f.backendHost),
  /** It passes on what people and agents send to the console, so its machine could read it. */
  servesConsole: z._default(z.boolean(), false),
})
export type EdgeForm = z.infer<typeof EdgeForm>
export type EdgeFormInput = z.input<typeof EdgeForm>

/** What lets one machine join as this edge, once and within the hour. Only this answer has the token. */
export const JoinToken = z.object({
  token: z.string(),
  expiresAt: f.time,
  /** Where the machine joins, with the fingerprint of the root that proves it: `https://host#sha256:…`. */
  address: z.string(),
})
export type JoinToken = z.infer<typeof JoinToken>

export const AddedEdge = z.object({ edge: Edge, join: JoinToken })
export type AddedEdge = z.infer<typeof AddedEdge>

/** The script `/install/edge.sh`, which makes a machine an edge. */
export const EdgeInstaller = z.object({
  url: z.string(),
  /** In hex; null when the edge was not built here. */
  sha256: z.nullable(z.string()),
})
export type EdgeInstaller = z.infer<typeof EdgeInstaller>

/** A request for a certificate (PKCS #10) with a key of the curve P-256. Of it, only the key is used. */
const csr = z
  .string()
  .check(
    z.maxLength(4096),
    z.regex(
      /^\s*-----BEGIN CERTIFICATE REQUEST-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE REQUEST-----\s*$/,
      'must be a request for a certificate, as PEM',
    ),
  )

/** What an edge says of its machine. */
export const EdgeMachine = z.object({
  /** Its own addresses, without those of the machine alone. */
  addresses: z.array(z.string().check(z.regex(/^[0-9a-fA-F:.]{2,45}$/))).check(z.maxLength(32)),
})
export type EdgeMachine = z.infer<typeof EdgeMachine>

/** An edge's key stays on its machine: it sends a request for a certificate. */
export const JoinForm = z.strictObject({
  token: z
    .string()
    .check(z.regex(new RegExp(`^${TOKEN_PREFIXES.join}[A-Za-z0-9_-]{43}$`), 'is not a token of an edge')),
  csr,
  /** The version of the edge's program. */
  version: z.string().check(z.maxLength(100)),
  /** Where its WireGuard listens. */
  tunnelPort: f.port,
  machine: EdgeMachine,
})
export type JoinForm = z.infer<typeof JoinForm>

/** A server as edges elsewhere reach it, like `https://203.0.113.1:8443`. */
export const ControlServer = z.object({ name: z.string(), url: z.string().check(z.regex(CONTROL_URL)) })
export type ControlServer = z.infer<typeof ControlServer>

/** The edge's certificate, and the root by which servers prove themselves to edges; both PEM. */
export const CertificateAnswer = z.object({ certificate: z.string(), root: z.string() })
export type CertificateAnswer = z.infer<typeof CertificateAnswer>

/** What the edge keeps: it takes a state from no server that says otherwise. */
export const JoinAnswer = z.extend(CertificateAnswer, {
  edgeId: z.number(),
  number: z.number(),
  name: z.string(),
  servers: z.array(ControlServer).check(z.minLength(1), z.maxLength(LIMITS.servers)),
  known: z.object({ tunnelNetwork4: z.string(), tunnelNetwork6: z.string(), publicHost: z.string() }),
})
export type JoinAnswer = z.infer<typeof JoinAnswer>

/** An edge asks for its next certificate. */
export const CertificateForm = z.strictObject({ csr })
export type CertificateForm = z.infer<typeof CertificateForm>

/** The one name in the certificate of servers at the address for edges. */
export const CONTROL_NAME = 'server.postern.internal'

/** The name in an edge's certificate. */
export function edgeUri(edgeId: number): string {
  return `postern:edge:${edgeId}`
}

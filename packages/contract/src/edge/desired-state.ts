import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { BackendProto, columnOf, HTTP_SWITCHES } from '../services/service-fields.ts'
import { CONTROL_URL } from '../settings/control-settings.ts'

/**
 * What every edge should look like, in hashed sections, so that unchanged ones are not sent again.
 * The edge checks it with these schemas before anything else reads it.
 */

const cidr = z.string().check(z.regex(/^[0-9a-fA-F:.]+\/\d{1,3}$/))
const address = z.string().check(z.regex(/^[0-9a-fA-F:.]+$/))
const key = z.string().check(z.regex(/^[A-Za-z0-9+/]{43}=$/))

const keyId = z.string().check(z.regex(/^[a-z0-9]{1,16}$/))
const bytes32 = z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/))

const host = z.string().check(z.regex(/^[A-Za-z0-9.:-]{1,253}$/))

/** The installation itself. Addresses without prefix; networks in CIDR form. */
export const TunnelSettings = z.object({
  /** The name or address that visitors and nodes use; also a host of the console. */
  publicHost: host,
  /** Hosts from before at which it still answers. */
  formerHosts: z._default(z.array(host).check(z.maxLength(LIMITS.formerHosts)), []),
  /** What an edge keeps of ended requests, unless its own environment says it; absent in the state of an older server. */
  requests: z.optional(
    z.object({
      days: z.int().check(z.gte(0), z.lte(366)),
      megabytes: z.int().check(z.gte(64), z.lte(999_999)),
      hasQueries: z.boolean(),
    }),
  ),
  /** Which edge this is; absent in the state of an older server, which knows only the one beside it. */
  edge: z.optional(
    z.object({
      /** 1: the edge beside the server. Others have 10.64.255.N and …ff0N in the tunnel. */
      number: z.int().check(z.gte(1), z.lte(250)),
      servesConsole: z.boolean(),
      isDrained: z.boolean(),
    }),
  ),
  /** Where servers listen for edges elsewhere, like `https://203.0.113.1:8443`. */
  servers: z.optional(
    z
      .array(
        z.object({
          name: z.string(),
          url: z.string().check(z.regex(CONTROL_URL)),
        }),
      )
      .check(z.maxLength(LIMITS.servers)),
  ),
  /** The edge's own. */
  tunnelPrivateKey: key,
  tunnelNetwork4: cidr,
  tunnelNetwork6: cidr,
  /**
   * The keys that seal visitors' sessions: the one in use now, and the previous ones whose sessions are still valid.
   */
  signInKeys: z._default(
    z
      .array(
        z.object({
          id: keyId,
          secret: bytes32,
        }),
      )
      .check(z.maxLength(10)),
    [],
  ),
  /** The public keys with which services verify visitors' identities: points of P-256, named as in a JWKS. */
  identityKeys: z._default(
    z.array(z.object({ id: keyId, x: bytes32, y: bytes32 })).check(z.maxLength(10)),
    [],
  ),
})
export type TunnelSettings = z.infer<typeof TunnelSettings>

/** A node that is enabled and has a key. */
export const Peer = z.object({
  nodeId: z.number(),
  publicKey: key,
  presharedKey: key,
  address4: address,
  address6: address,
  /** Networks behind a gateway; empty for a plain node. */
  subnets: z.array(cidr),
  keepalive: z.number(),
  allowInternet: z.boolean(),
})
export type Peer = z.infer<typeof Peer>

const domain = z.string().check(z.regex(/^[a-z0-9.-]{1,253}$/))
const port = z.int().check(z.gte(1), z.lte(65535))

/** Where a route leads, seen from its node. `host` null means the node itself. */
const place = { host: z.nullable(z.string().check(z.regex(/^[a-z0-9.:-]{1,253}$/))), port }
export const Backend = z.object({ proto: BackendProto, ...place })
export type Backend = z.infer<typeof Backend>

export const RouteNode = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('local') }),
  z.object({ kind: z.literal('plain'), id: z.number(), address4: address }),
  z.object({ kind: z.literal('gateway'), id: z.number(), address4: address, subnets: z.array(cidr) }),
])
export type RouteNode = z.infer<typeof RouteNode>

/** Fields of every route, whatever the type of its service. */
const route = {
  /** The service's id: the same in every map, table and log. */
  id: z.int().check(z.positive()),
  node: RouteNode,
  /** False: the service or its node is disabled. */
  enabled: z.boolean(),
  allowedIps: z.array(z.string()),
  blockedIps: z.array(z.string()),
}

const bypassPath = z.string().check(z.regex(/^\/[A-Za-z0-9._~!$()*+,=:@/-]{0,254}$/))
const bypassExpression = z
  .string()
  .check(
    z.regex(/^[wb]([oqsp][0-9a-f]{2}(-[0-9a-f]{2})?(\.[0-9a-f]{2}(-[0-9a-f]{2})?)*(:(?=.)|$))*$/),
    z.maxLength(2000),
  )

/** An HTTP service. Visitors of a disabled one get our own page. */
export const Route = z.object({
  ...route,
  ...columnOf(HTTP_SWITCHES, 'route'),
  /** Null: the installation's own addresses (any IP literal, and the public host). */
  domain: z.nullable(domain),
  /** `/` or `/segment…` without a slash at the end. */
  path: z.string().check(z.regex(/^(\/|(\/[A-Za-z0-9._~-]+)+)$/), z.maxLength(255)),
  backend: Backend,
  /** The console's own service, which leads to the server. */
  system: z.boolean(),
  /**
   * Null: open to everybody. Otherwise visitors sign in first, except on the paths that it exempts
   * (`packages/net/src/bypass.ts`).
   */
  signIn: z.nullable(z.object({ paths: z.array(bypassPath), expressions: z.array(bypassExpression) })),
})
export type Route = z.infer<typeof Route>

const portRoute = { ...route, port, backend: z.object(place) }

/** A TCP or UDP service. No two have the same `port` and `proto`; a disabled one keeps its port. */
export const PortRoute = z.discriminatedUnion('proto', [
  z.object({
    ...portRoute,
    proto: z.literal('tcp'),
    /** TLS ends at the edge, with the certificate of this domain or the installation's own; null: it passes. */
    tls: z.nullable(z.object({ domain: z.nullable(domain) })),
  }),
  z.object({ ...portRoute, proto: z.literal('udp') }),
])
export type PortRoute = z.infer<typeof PortRoute>

/** A domain whose sign-in is on. */
export const SignIn = z.object({
  /** The domain's id. */
  id: z.int().check(z.positive()),
  domain,
  /** The entries of its list of e-mails. The id of a removed entry is never used again. */
  members: z.array(z.int().check(z.positive())),
})
export type SignIn = z.infer<typeof SignIn>

/** One certificate, as PEM texts. The installation's own has id 0 and is served for unknown names. */
export const EdgeCertificate = z.object({
  id: z.int().check(z.gte(0)),
  /** The names it is served for (SNI); empty for the installation's own. */
  domains: z.array(domain),
  chain: z.string(),
  privateKey: z.string(),
})
export type EdgeCertificate = z.infer<typeof EdgeCertificate>

const base64url = (longest: number) => z.string().check(z.regex(/^[A-Za-z0-9_-]+$/), z.maxLength(longest))

/**
 * What a certificate authority looks for at a domain: `/.well-known/acme-challenge/<token>` answers with
 * `<token>.<thumbprint>` (RFC 8555, 8.3).
 */
export const Challenge = z.object({
  id: z.int().check(z.positive()),
  domain,
  token: base64url(128),
  /** SHA-256 of our account's key there. */
  thumbprint: base64url(43),
})
export type Challenge = z.infer<typeof Challenge>

/** Rows with neighbouring ids share a section, so that a change of one route sends few others. */
export function routesSectionOf(id: number): string {
  return `routes:${partOf(id)}`
}

export function portsSectionOf(id: number): string {
  return `ports:${partOf(id)}`
}

export function signInsSectionOf(domainId: number): string {
  return `sign-in:${partOf(domainId)}`
}

export function peersSectionOf(nodeId: number): string {
  return `peers:${partOf(nodeId)}`
}

export function challengesSectionOf(id: number): string {
  return `challenges:${partOf(id)}`
}

/** Fewer, because each is some thousand bytes. */
export function certificatesSectionOf(id: number): string {
  return `certificates:${Math.floor(id / 16)}`
}

const partOf = (id: number) => Math.floor(id / 200)

/**
 * Section name → hash of its content. Names: `settings`, `peers:<part>`, `routes:<part>`, `ports:<part>`,
 * `sign-in:<part>`, `challenges:<part>`, `certificates:<part>`; a part without rows has none. The edge keeps the
 * server's hashes and sends them back; it never computes one.
 */
export const SectionHashes = z.record(z.string(), z.string())
export type SectionHashes = z.infer<typeof SectionHashes>

/** The rows of all parts together. */
const rows = {
  peers: z.array(Peer),
  routes: z.array(Route),
  ports: z.array(PortRoute),
  signIns: z.array(SignIn),
  challenges: z.array(Challenge),
  certificates: z.array(EdgeCertificate),
}

const StateSections = z.object({ settings: z.optional(TunnelSettings), ...rows })

/** The edge says which hashes it holds … */
export const StateRequest = z.strictObject({ known: SectionHashes })
export type StateRequest = z.infer<typeof StateRequest>

/** … and gets one consistent snapshot: all hashes at `revision`, and the sections whose hash differs. */
export const StateAnswer = z.object({ revision: z.number(), hashes: SectionHashes, sections: StateSections })
export type StateAnswer = z.infer<typeof StateAnswer>

/** The whole state, as the edge holds it and the renderers read it. */
export const DesiredState = z.object({
  revision: z.number(),
  hashes: SectionHashes,
  settings: TunnelSettings,
  ...rows,
})
export type DesiredState = z.infer<typeof DesiredState>

import * as z from 'zod/mini'
import * as f from './fields.ts'

/** `self-signed`: by the installation's own authority. `certbot`: by a public one, over ACME. */
export const CertificateKind = z.enum(['self-signed', 'certbot'])
export type CertificateKind = z.infer<typeof CertificateKind>

/**
 * The steps of an order: waiting for its turn; being placed; the edge receives the answer that the authority will
 * look for; the authority looks for it; the authority signs the certificate.
 */
export const OrderStep = z.enum(['queued', 'ordering', 'preparing', 'validating', 'finalizing'])
export type OrderStep = z.infer<typeof OrderStep>

/**
 * Why there is no certificate. The name: `dns`, it does not point here; `unreachable`, port 80 did not answer the
 * authority; `answer`, something other than this server answered; `caa`, DNS permits only other authorities. The
 * authority: `rate-limit`; `rejected`, it does not sign for such a name; `account`, it does not accept our account;
 * `authority`, it is down, silent or makes no sense. Ourselves: `edge`, the edge did not take the answer; `internal`,
 * the reason is in the server's log.
 */
export const CertificateProblemCode = z.enum([
  'dns',
  'unreachable',
  'answer',
  'caa',
  'rate-limit',
  'rejected',
  'account',
  'authority',
  'edge',
  'internal',
])
export type CertificateProblemCode = z.infer<typeof CertificateProblemCode>

export const CertificateProblem = z.object({
  code: CertificateProblemCode,
  /** In the authority's own words where it had any; one line. */
  detail: z.string(),
  /** The addresses that DNS had for the name then, and those it should have; empty where they do not matter. */
  found: z.array(z.string()),
  expected: z.array(z.string()),
  at: f.time,
})
export type CertificateProblem = z.infer<typeof CertificateProblem>

/** The certificate of a domain, and the order for the next one. */
export const Certificate = z.object({
  /**
   * `valid`: the one in use is the one wanted; `pending`: it is on order; `failed`: the order failed and is tried
   * again.
   */
  status: z.enum(['valid', 'pending', 'failed']),
  /** The one in use: a domain that waits for an authority, or failed there, has a self-signed one until then. */
  kind: CertificateKind,
  issuer: z.nullable(z.string()),
  notBefore: z.nullable(f.time),
  notAfter: z.nullable(f.time),
  /** An order that is under way, also one for a renewal; otherwise null. */
  step: z.nullable(OrderStep),
  /** Why the last order failed, also while the next one is under way; or why all orders at the authority wait. */
  problem: z.nullable(CertificateProblem),
  /** `problem.detail` */
  error: z.nullable(z.string()),
  /** When an order that failed, or waits for a problem that affects all orders, is tried again by itself. */
  nextTryAt: z.nullable(f.time),
  /** The one in use expires soon, and its renewal fails. */
  renewalFailing: z.boolean(),
})
export type Certificate = z.infer<typeof Certificate>

import * as z from 'zod/mini'
import { Certificate, CertificateKind } from './certificates.ts'
import * as f from './fields.ts'
import { LIMITS } from './limits.ts'
import { listOrPage, orderBy, pageQuery, searchText } from './lists.ts'
import { MESSAGES } from './messages.ts'

/** What a person can set for a domain. `skipValidation` skips the check that the name points here. */
export const DomainForm = z.strictObject({
  domain: f.domainName,
  ssl: f.blankable(CertificateKind),
  skipValidation: f.withDefault(z.boolean(), false),
  /** Visitors of services that require it sign in; off clears the list. */
  authentication: f.withDefault(z.boolean(), false),
  /** Who may come in. An empty list admits nobody. */
  allowedEmails: f.listOf(f.email, LIMITS.allowedEmails),
  /** The edges that serve it, and have its keys; null: all of them, those of the future too. */
  edges: f.blankable(z.array(f.id).check(z.minLength(1, MESSAGES.edgesRequired), z.maxLength(LIMITS.edges))),
})
export type DomainForm = z.infer<typeof DomainForm>
export type DomainFormInput = z.input<typeof DomainForm>

export const Domain = z.object({
  id: z.number(),
  domain: z.string(),
  ssl: z.nullable(CertificateKind),
  skipValidation: z.boolean(),
  authentication: z.boolean(),
  allowedEmails: z.array(z.string()),
  edges: z.nullable(z.array(z.number())),
  certificate: Certificate,
  created_at: f.time,
  updated_at: f.time,
})
export type Domain = z.infer<typeof Domain>

/** A certificate that expires soon because its renewal fails. */
const EndingCertificate = z.object({
  /** The domain's. */
  id: z.number(),
  domain: z.string(),
  notAfter: f.time,
  error: z.string(),
})
export type EndingCertificate = z.infer<typeof EndingCertificate>

/**
 * Time alone puts a certificate on this list, without any change that could send a hint: `nextInMs` is when to ask
 * again.
 */
export const EndingCertificates = z.object({
  data: z.array(EndingCertificate),
  /** In how many ms another certificate may join the list without any change; a day at most. */
  nextInMs: z.number(),
})
export type EndingCertificates = z.infer<typeof EndingCertificates>

/** The root of the installation's own authority, as people import it; it may sign only for the names of today. */
export const RootCertificate = z.object({
  name: z.string(),
  /** SHA-256 in the form that browsers show: `AB:CD:…` */
  fingerprint: z.string(),
  notAfter: f.time,
})
export type RootCertificate = z.infer<typeof RootCertificate>

export const DomainQuery = z.strictObject({
  ...pageQuery,
  search: searchText,
  orderBy: orderBy(['domain', 'created_at']),
})
export type DomainQuery = z.infer<typeof DomainQuery>
export const DomainList = listOrPage(Domain)

export const SignInOutcome = z.enum(['signed-in', 'refused', 'signed-out'])
export type SignInOutcome = z.infer<typeof SignInOutcome>

/** One visitor who came to the sign-in of a domain. */
export const SignInRecord = z.object({
  id: z.number(),
  email: z.string(),
  /** The visitor's IP address. */
  address: z.string(),
  outcome: SignInOutcome,
  at: f.time,
})
export type SignInRecord = z.infer<typeof SignInRecord>
export const SignInQuery = z.strictObject(pageQuery)
export type SignInQuery = z.infer<typeof SignInQuery>
export const SignInList = listOrPage(SignInRecord)

/** Whose sessions end. */
export const EndSessionsForm = z.strictObject({ email: f.email })

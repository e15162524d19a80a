import * as z from 'zod/mini'
import { ProblemDocument } from './errors.ts'

/** The fields of an authority's objects that we use (RFC 8555, 7.1; RFC 9773). */

const url = z.string().check(z.maxLength(2048), z.regex(/^https:\/\/[^\s]+$/))

export const Directory = z.object({
  newNonce: url,
  newAccount: url,
  newOrder: url,
  renewalInfo: z.optional(url),
  meta: z.optional(
    z.object({
      externalAccountRequired: z.optional(z.boolean()),
      profiles: z.optional(z.record(z.string(), z.string())),
    }),
  ),
})
export type Directory = z.infer<typeof Directory>

export const Account = z.object({ status: z.string() })

export const Order = z.object({
  status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: z.array(url).check(z.minLength(1), z.maxLength(10)),
  finalize: url,
  certificate: z.optional(url),
  error: z.optional(ProblemDocument),
})
export type Order = z.infer<typeof Order>

const Challenge = z.object({
  type: z.string(),
  url,
  status: z.optional(z.string()),
  token: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{16,128}$/))),
  error: z.optional(ProblemDocument),
})

export const Authorization = z.object({
  status: z.enum(['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked']),
  challenges: z.array(Challenge).check(z.maxLength(20)),
})
export type Authorization = z.infer<typeof Authorization>

export const RenewalInfo = z.object({ suggestedWindow: z.object({ start: z.string(), end: z.string() }) })

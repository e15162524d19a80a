import * as z from 'zod/mini'
import { idText } from './fields.ts'
import { ServiceType } from './services/services.ts'

/** Either a domain, or a service by type and id. */
export const LogStreamQuery = z.union([
  z.strictObject({ domain: z.string().check(z.maxLength(253)), token: z.optional(z.string()) }),
  z.strictObject({ type: ServiceType, id: idText, token: z.optional(z.string()) }),
])
export type LogStreamQuery = z.infer<typeof LogStreamQuery>

/** Each message of the stream. */
export const LogBatch = z.array(z.string())

import * as z from 'zod/mini'
import { Domain } from './domains.ts'
import { Node } from './nodes.ts'
import { Service } from './services/services.ts'

/** What a person typed to find something: words from its name or address. */
export const FindQuery = z.strictObject({
  text: z.string().check(z.trim(), z.normalize('NFC'), z.minLength(1), z.maxLength(253)),
})
export type FindQuery = z.infer<typeof FindQuery>

/** The best matches of each kind, as their lists have them, best first: five at most. */
export const Found = z.object({
  nodes: z.array(Node),
  domains: z.array(Domain),
  services: z.array(Service),
})
export type Found = z.infer<typeof Found>

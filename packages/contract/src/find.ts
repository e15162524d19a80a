import * as z from 'zod/mini'
import { ServiceType } from './services.ts'

/** What a person typed to find something: words of its name or address. */
export const FindQuery = z.strictObject({
  text: z.string().check(z.trim(), z.normalize('NFC'), z.minLength(1), z.maxLength(253)),
})
export type FindQuery = z.infer<typeof FindQuery>

/** What fits best of each kind, the best first: five at most. */
export const Found = z.object({
  nodes: z.array(z.object({ id: z.number(), name: z.string(), address: z.string() })),
  domains: z.array(z.object({ id: z.number(), domain: z.string() })),
  services: z.array(
    z.object({
      id: z.number(),
      type: ServiceType,
      nodeId: z.number(),
      nodeName: z.string(),
      name: z.string(),
      domain: z.nullable(z.string()),
      /** Null: the node itself. */
      backendHost: z.nullable(z.string()),
      backendPort: z.number(),
    }),
  ),
})
export type Found = z.infer<typeof Found>

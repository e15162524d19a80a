import { domains } from './domains.ts'
import type { Endpoint } from './endpoint.ts'
import { nodes } from './nodes.ts'
import { overview } from './overview.ts'
import { server } from './server.ts'
import { services } from './services.ts'
import { signIn } from './sign-in.ts'
import { tokens } from './tokens.ts'

/**
 * The endpoints for people: the console need not load those that only machines call, nor with its first page those of
 * one page alone.
 */
export const endpoints = {
  ...server,
  ...overview,
  ...nodes,
  ...tokens,
  ...domains,
  ...services,
  ...signIn,
} as const satisfies Record<string, Endpoint>

import type { Endpoint } from './endpoint.ts'
import { domains } from './endpoints/domains.ts'
import { nodes } from './endpoints/nodes.ts'
import { overview } from './endpoints/overview.ts'
import { server } from './endpoints/server.ts'
import { services } from './endpoints/services.ts'
import { signIn } from './endpoints/sign-in.ts'
import { tokens } from './endpoints/tokens.ts'

/** What people call: the console need not load what machines say to each other. */
export const endpoints = {
  ...server,
  ...overview,
  ...nodes,
  ...tokens,
  ...domains,
  ...services,
  ...signIn,
} as const satisfies Record<string, Endpoint>

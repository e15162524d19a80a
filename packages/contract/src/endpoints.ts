import type { Endpoint } from './endpoint.ts'
import { domains } from './endpoints/domains.ts'
import { machines } from './endpoints/machines.ts'
import { nodes } from './endpoints/nodes.ts'
import { overview } from './endpoints/overview.ts'
import { server } from './endpoints/server.ts'
import { services } from './endpoints/services.ts'
import { signIn } from './endpoints/sign-in.ts'
import { tokens } from './endpoints/tokens.ts'

/** Every call of the API: where it is, what it is about, who may make it, what it takes and what it answers. */
export const endpoints = {
  ...server,
  ...overview,
  ...nodes,
  ...tokens,
  ...domains,
  ...services,
  ...signIn,
  ...machines,
} as const satisfies Record<string, Endpoint>

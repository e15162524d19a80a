import type { FastifyInstance } from 'fastify'
import { agentRoutes } from './agent.ts'
import { authRoutes } from './auth.ts'
import { configRoutes } from './config.ts'
import { docsRoutes } from './docs.ts'
import { domainRoutes } from './domains.ts'
import { edgeRoutes } from './edge.ts'
import { hintRoutes } from './hints.ts'
import { installRoutes } from './install.ts'
import { logRoutes } from './logs.ts'
import { nodeRoutes } from './nodes.ts'
import { overviewRoutes } from './overview.ts'
import { serviceRoutes } from './services.ts'
import { signInRoutes } from './sign-in.ts'
import { tokenRoutes } from './tokens.ts'

/** Every group of routes, each a function that declares them on the application. */
export const ROUTES: readonly ((app: FastifyInstance) => void | Promise<void>)[] = [
  authRoutes,
  configRoutes,
  overviewRoutes,
  nodeRoutes,
  tokenRoutes,
  domainRoutes,
  serviceRoutes,
  edgeRoutes,
  agentRoutes,
  hintRoutes,
  logRoutes,
  installRoutes,
  signInRoutes,
  docsRoutes,
]

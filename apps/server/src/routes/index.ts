import type { FastifyInstance } from 'fastify'
import { agentRoutes } from './agent.ts'
import { alertRoutes } from './alerts.ts'
import { apiTokenRoutes } from './api-tokens.ts'
import { authRoutes } from './auth.ts'
import { configRoutes } from './config.ts'
import { consoleSignInRoutes } from './console-sign-in.ts'
import { deviceRoutes } from './devices.ts'
import { docsRoutes } from './docs.ts'
import { domainRoutes } from './domains.ts'
import { edgeRoutes } from './edge.ts'
import { edgesRoutes } from './edges.ts'
import { factorRoutes } from './factors.ts'
import { figureRoutes } from './figures.ts'
import { hintRoutes } from './hints.ts'
import { historyRoutes } from './history.ts'
import { installRoutes } from './install.ts'
import { logRoutes } from './logs.ts'
import { manyRoutes } from './many.ts'
import { nodeRoutes } from './nodes.ts'
import { overviewRoutes } from './overview.ts'
import { accountRoutes, peopleRoutes } from './people.ts'
import { requestRoutes } from './requests.ts'
import { serviceRoutes } from './services.ts'
import { settingsRoutes } from './settings.ts'
import { signInRoutes } from './sign-in.ts'
import { tokenRoutes } from './tokens.ts'
import { whyRoutes } from './why.ts'

/** Every group of routes, each a function that declares them on the application. */
export const ROUTES: readonly ((app: FastifyInstance) => void | Promise<void>)[] = [
  authRoutes,
  accountRoutes,
  peopleRoutes,
  factorRoutes,
  consoleSignInRoutes,
  configRoutes,
  settingsRoutes,
  overviewRoutes,
  nodeRoutes,
  tokenRoutes,
  apiTokenRoutes,
  deviceRoutes,
  domainRoutes,
  serviceRoutes,
  figureRoutes,
  manyRoutes,
  edgeRoutes,
  edgesRoutes,
  agentRoutes,
  hintRoutes,
  logRoutes,
  requestRoutes,
  alertRoutes,
  historyRoutes,
  installRoutes,
  signInRoutes,
  whyRoutes,
  docsRoutes,
]

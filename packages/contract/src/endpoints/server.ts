import * as z from 'zod/mini'
import { Config, NodeConfig } from '../config.ts'
import { FindQuery, Found } from '../find.ts'
import { HintStreamQuery, Hints } from '../hints.ts'
import { Account, ROLES, Ticket } from '../sign-in/auth.ts'
import { type Endpoint, everybody, look, nothing, watch } from './endpoint.ts'

/** The installation itself, and who is signed in to it. */
export const server = {
  health: {
    method: 'GET',
    path: '/api/health',
    noun: 'Server',
    auth: 'none',
    answer: z.object({ status: z.literal('ok') }),
  },
  config: {
    method: 'GET',
    path: '/api/config',
    noun: 'Server',
    auth: 'session or node',
    roles: ROLES,
    answer: Config,
    answerToNode: NodeConfig,
  },
  logout: {
    method: 'POST',
    path: '/api/auth/logout',
    noun: 'Account',
    ...everybody,
    body: nothing,
    answer: nothing,
  },
  ticket: {
    method: 'POST',
    path: '/api/auth/ticket',
    noun: 'Account',
    ...look,
    isSessionOnly: true,
    body: nothing,
    answer: Ticket,
  },
  streamHints: {
    method: 'GET',
    path: '/api/hints/stream',
    noun: 'Server',
    ...watch,
    query: HintStreamQuery,
    events: { message: Hints },
  },
  /** Nodes, domains and services by what a person types. */
  find: { method: 'GET', path: '/api/find', noun: 'Server', ...look, query: FindQuery, answer: Found },
  me: { method: 'GET', path: '/api/auth/me', noun: 'Account', ...look, answer: Account },
} as const satisfies Record<string, Endpoint>

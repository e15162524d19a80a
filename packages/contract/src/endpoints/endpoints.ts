import { HttpServiceForm } from '../services/http-service-form.ts'
import { alerts } from './alerts.ts'
import { apiTokens } from './api-tokens.ts'
import { endpoints as people } from './console-endpoints.ts'
import { consoleSignIn, identities } from './console-sign-in.ts'
import { device } from './device.ts'
import { edges } from './edges.ts'
import type { Endpoint } from './endpoint.ts'
import { factors } from './factors.ts'
import { figures } from './figures.ts'
import { history } from './history.ts'
import { login } from './login.ts'
import { machines } from './machines.ts'
import { many } from './many.ts'
import { account, people as accounts, invites } from './people.ts'
import { requests } from './requests.ts'
import { settings } from './settings.ts'
import { why } from './why.ts'

/** Every call of the API: its path, its subject, who may make it, what it takes and what it answers. */
export const endpoints = {
  ...people,
  ...figures,
  ...machines,
  ...edges,
  ...why,
  ...many,
  ...requests,
  ...alerts,
  ...settings,
  ...account,
  ...accounts,
  ...invites,
  ...login,
  ...factors,
  ...apiTokens,
  ...device,
  ...history,
  ...consoleSignIn,
  ...identities,
  createHttpService: { ...people.createHttpService, body: HttpServiceForm },
  updateHttpService: { ...people.updateHttpService, body: HttpServiceForm },
} as const satisfies Record<string, Endpoint>

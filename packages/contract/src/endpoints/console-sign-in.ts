import { byId } from '../fields.ts'
import {
  ConsoleProvider,
  ConsoleProviderForm,
  ConsoleSignIn,
  PasswordRule,
  ProviderTrialForm,
  RulesForm,
  RulesPreview,
} from '../sign-in/console-providers.ts'
import { Confirmation } from '../sign-in/factors.ts'
import { IdentityList, IdentityStart, ProviderAddress, ProviderTicket } from '../sign-in/provider-login.ts'
import { TrialStart } from '../sign-in/trials.ts'
import { deleted, type Endpoint, everybody, managePeople } from './endpoint.ts'

const own = { ...everybody, noun: 'Account' } as const
const manage = { ...managePeople, noun: 'Provider' } as const

/** How people sign in to the console, for administrators. */
export const consoleSignIn = {
  getConsoleSignIn: { method: 'GET', path: '/api/console-sign-in', ...manage, answer: ConsoleSignIn },
  setPasswordRule: {
    method: 'PATCH',
    path: '/api/console-sign-in',
    ...manage,
    isWayIn: true,
    body: PasswordRule,
    answer: ConsoleSignIn,
  },
  createConsoleProvider: {
    method: 'POST',
    path: '/api/console-sign-in/providers',
    ...manage,
    isWayIn: true,
    body: ConsoleProviderForm,
    answer: ConsoleProvider,
    status: 201,
  },
  updateConsoleProvider: {
    method: 'PATCH',
    path: '/api/console-sign-in/providers/:id',
    ...manage,
    isWayIn: true,
    params: byId,
    body: ConsoleProviderForm,
    answer: ConsoleProvider,
  },
  deleteConsoleProvider: {
    method: 'DELETE',
    path: '/api/console-sign-in/providers/:id',
    ...manage,
    params: byId,
    answer: deleted,
  },
  /** Its outcome is that of `getTrial`. */
  tryConsoleProvider: {
    method: 'POST',
    path: '/api/console-sign-in/trial',
    ...manage,
    body: ProviderTrialForm,
    answer: TrialStart,
  },
  previewRules: {
    method: 'POST',
    path: '/api/console-sign-in/preview',
    ...manage,
    body: RulesForm,
    answer: RulesPreview,
  },
} as const satisfies Record<string, Endpoint>

/** The providers' accounts with which a person signs in. */
export const identities = {
  listIdentities: { method: 'GET', path: '/api/account/identities', ...own, answer: IdentityList },
  /** The browser comes back to `/account#ticket=…`. */
  beginIdentity: {
    method: 'POST',
    path: '/api/account/identities/begin',
    ...own,
    body: IdentityStart,
    answer: ProviderAddress,
  },
  addIdentity: {
    method: 'POST',
    path: '/api/account/identities',
    ...own,
    body: ProviderTicket,
    answer: IdentityList,
    status: 201,
  },
  /** Refused for the last way to sign in. */
  removeIdentity: {
    method: 'POST',
    path: '/api/account/identities/:id/remove',
    ...own,
    noun: 'Identity',
    params: byId,
    body: Confirmation,
    answer: IdentityList,
  },
} as const satisfies Record<string, Endpoint>

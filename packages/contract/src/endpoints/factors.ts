import * as z from 'zod/mini'
import { byId } from '../fields.ts'
import {
  AuthenticatorStart,
  CodeForm,
  Confirmation,
  Factors,
  GivenCodes,
  NewPasskeyForm,
  NewPasskeyStart,
  Passkey,
  PasskeyNameForm,
} from '../sign-in/factors.ts'
import { deleted, type Endpoint, everybody, letIn } from './endpoint.ts'

const own = { ...everybody, noun: 'Account' } as const

/** The second factors of an account. */
export const factors = {
  getFactors: { method: 'GET', path: '/api/account/factors', ...own, answer: Factors },
  beginAuthenticator: {
    method: 'POST',
    path: '/api/account/authenticator',
    ...own,
    body: Confirmation,
    answer: AuthenticatorStart,
  },
  confirmAuthenticator: {
    method: 'POST',
    path: '/api/account/authenticator/confirm',
    ...own,
    body: CodeForm,
    answer: GivenCodes,
  },
  removeAuthenticator: {
    method: 'POST',
    path: '/api/account/authenticator/remove',
    ...own,
    body: Confirmation,
    answer: Factors,
  },
  beginPasskey: {
    method: 'POST',
    path: '/api/account/passkeys/challenge',
    ...own,
    body: Confirmation,
    answer: NewPasskeyStart,
  },
  addPasskey: {
    method: 'POST',
    path: '/api/account/passkeys',
    ...own,
    body: NewPasskeyForm,
    answer: z.extend(GivenCodes, { passkey: Passkey }),
    status: 201,
  },
  renamePasskey: {
    method: 'PATCH',
    path: '/api/account/passkeys/:id',
    ...own,
    noun: 'Passkey',
    params: byId,
    body: PasskeyNameForm,
    answer: Passkey,
  },
  removePasskey: {
    method: 'POST',
    path: '/api/account/passkeys/:id/remove',
    ...own,
    noun: 'Passkey',
    params: byId,
    body: Confirmation,
    answer: deleted,
  },
  makeRecoveryCodes: {
    method: 'POST',
    path: '/api/account/recovery-codes',
    ...own,
    body: Confirmation,
    answer: z.object({ recoveryCodes: z.array(z.string()) }),
  },
  /** For a person who has lost them all; their sessions end. */
  removeFactors: {
    method: 'DELETE',
    path: '/api/people/:id/factors',
    noun: 'Person',
    ...letIn,
    params: byId,
    answer: deleted,
  },
} as const satisfies Record<string, Endpoint>

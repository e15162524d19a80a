import { Login } from '../sign-in/auth.ts'
import { CodeForm, PasskeyForm, PasskeyLogin, PasskeyStart } from '../sign-in/factors.ts'
import { type Endpoint, nothing } from './endpoint.ts'

const anyone = { auth: 'none' } as const

/** Signing in by more than a password, or by a passkey instead of it. */
export const secondStep = {
  loginByCode: {
    method: 'POST',
    path: '/api/auth/code',
    noun: 'Account',
    ...anyone,
    body: CodeForm,
    answer: Login,
  },
  beginPasskeyLogin: {
    method: 'POST',
    path: '/api/auth/passkey/challenge',
    noun: 'Account',
    ...anyone,
    body: nothing,
    answer: PasskeyStart,
  },
  /** With the ticket of either: a sign-in by password, or by passkey alone. */
  loginByPasskey: {
    method: 'POST',
    path: '/api/auth/passkey',
    noun: 'Account',
    ...anyone,
    body: PasskeyForm,
    answer: PasskeyLogin,
  },
} as const satisfies Record<string, Endpoint>

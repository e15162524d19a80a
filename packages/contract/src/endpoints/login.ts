import { Login, LoginForm } from '../sign-in/auth.ts'
import { CodeForm, PasskeyForm, PasskeyLogin, PasskeyStart } from '../sign-in/factors.ts'
import {
  ProviderAddress,
  ProviderLogin,
  ProviderLoginStart,
  ProviderTicket,
  SignInWays,
} from '../sign-in/provider-login.ts'
import { LoginAnswer } from '../sign-in/second-step.ts'
import { type Endpoint, nothing } from './endpoint.ts'

const anyone = { auth: 'none' } as const

/** Signing in. Pages that only people who are signed in see do not load it. */
export const login = {
  login: {
    method: 'POST',
    path: '/api/auth/login',
    noun: 'Account',
    ...anyone,
    body: LoginForm,
    answer: LoginAnswer,
  },
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
  getSignInWays: {
    method: 'GET',
    path: '/api/auth/ways',
    noun: 'Server',
    ...anyone,
    answer: SignInWays,
  },
  /** The browser comes back to `/login#ticket=…`. The call has the key (`x-postern-key`) to which the ticket is bound. */
  beginProviderLogin: {
    method: 'POST',
    path: '/api/auth/provider',
    noun: 'Account',
    ...anyone,
    body: ProviderLoginStart,
    answer: ProviderAddress,
  },
  loginByProvider: {
    method: 'POST',
    path: '/api/auth/provider/finish',
    noun: 'Account',
    ...anyone,
    body: ProviderTicket,
    answer: ProviderLogin,
  },
} as const satisfies Record<string, Endpoint>

import { ProviderCheck, Trial, TrialStart } from '../sign-in/trials.ts'
import { administer, type Endpoint, look, nothing } from './endpoint.ts'

/** The provider of sign-ins in front of services, and trying it out. */
export const signIn = {
  checkProvider: {
    method: 'GET',
    path: '/api/sign-in/provider',
    noun: 'Server',
    ...look,
    answer: ProviderCheck,
  },
  beginTrial: {
    method: 'POST',
    path: '/api/sign-in/trial',
    noun: 'Server',
    ...administer,
    isSessionOnly: true,
    body: nothing,
    answer: TrialStart,
  },
  getTrial: {
    method: 'GET',
    path: '/api/sign-in/trial',
    noun: 'Server',
    ...look,
    isSessionOnly: true,
    answer: Trial,
  },
} as const satisfies Record<string, Endpoint>

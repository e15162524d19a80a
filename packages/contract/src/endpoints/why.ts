import { byId } from '../fields.ts'
import { Why, WhyForm } from '../why/why.ts'
import { type Endpoint, look } from './endpoint.ts'

/** Where visitors of an address stop on their way. */
export const why = {
  beginWhy: {
    method: 'POST',
    path: '/api/why',
    noun: 'Trace',
    ...look,
    body: WhyForm,
    answer: Why,
    status: 201,
  },
  /** A trace that this sign-in started, with its steps so far. It is kept for some minutes. */
  getWhy: { method: 'GET', path: '/api/why/:id', noun: 'Trace', ...look, params: byId, answer: Why },
} as const satisfies Record<string, Endpoint>

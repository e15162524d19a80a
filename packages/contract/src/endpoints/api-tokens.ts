import * as z from 'zod/mini'
import { ApiToken, ApiTokenForm, CreatedApiToken } from '../api-tokens.ts'
import { byId } from '../fields.ts'
import { deleted, type Endpoint, everybody, inPerson, nothing } from './endpoint.ts'

/** The signed-in person's own tokens for programs. */
export const apiTokens = {
  listApiTokens: {
    method: 'GET',
    path: '/api/tokens',
    noun: 'Token',
    ...everybody,
    answer: z.array(ApiToken),
  },
  createApiToken: {
    method: 'POST',
    path: '/api/tokens',
    noun: 'Token',
    ...inPerson,
    body: ApiTokenForm,
    answer: CreatedApiToken,
    status: 201,
  },
  /** It is refused from the next request on, and stays in the list. */
  revokeApiToken: {
    method: 'PATCH',
    path: '/api/tokens/:id/revoke',
    noun: 'Token',
    ...everybody,
    params: byId,
    body: nothing,
    answer: ApiToken,
  },
  deleteApiToken: {
    method: 'DELETE',
    path: '/api/tokens/:id',
    noun: 'Token',
    ...everybody,
    params: byId,
    answer: deleted,
  },
} as const satisfies Record<string, Endpoint>

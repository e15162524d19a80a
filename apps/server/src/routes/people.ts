import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { confirmPassword } from '../core/accounts/accounts.ts'
import {
  changePassword,
  endOtherSessions,
  endOwnSession,
  listOwnSessions,
  renameAccount,
} from '../core/accounts/own-account.ts'
import { acceptInvite, readInvite } from '../core/people/invites.ts'
import {
  endPersonSessions,
  getPerson,
  invitePerson,
  listPeople,
  removePerson,
  renewInvite,
  setPersonEnabled,
  updatePerson,
} from '../core/people/people.ts'
import { endPersonTokens } from '../core/programs/of-person.ts'
import { arrivalOf, keyOf } from '../http/auth.ts'
import { formRoute, route } from '../http/route.ts'
import { accountOf, placeOf } from './auth.ts'

export function peopleRoutes(app: FastifyInstance): void {
  route(app, endpoints.listPeople, ({ context }) => listPeople(context))
  route(app, endpoints.getPerson, ({ context, params }) => getPerson(context, params.id))
  formRoute(app, endpoints.invitePerson, ({ context, actor, patch }) => invitePerson(context, actor, patch))
  formRoute(app, endpoints.updatePerson, ({ context, actor, params, patch }) =>
    updatePerson(context, actor, params.id, patch),
  )
  route(app, endpoints.renewInvite, ({ context, actor, params, body }) =>
    renewInvite(context, actor, params.id, body),
  )
  route(app, endpoints.disablePerson, ({ context, actor, params }) =>
    setPersonEnabled(context, actor, params.id, false),
  )
  route(app, endpoints.enablePerson, ({ context, actor, params }) =>
    setPersonEnabled(context, actor, params.id, true),
  )
  route(app, endpoints.endPersonSessions, ({ context, actor, params }) =>
    endPersonSessions(context, actor, params.id),
  )
  route(app, endpoints.endPersonTokens, ({ context, actor, params }) =>
    endPersonTokens(context, actor, params.id),
  )
  route(app, endpoints.deletePerson, ({ context, actor, params }) => removePerson(context, actor, params.id))
  route(app, endpoints.readInvite, ({ context, body, request }) =>
    readInvite(context, body.token, placeOf(request)),
  )
  route(app, endpoints.acceptInvite, async ({ context, body, request }) => {
    const { username, session } = await acceptInvite(context, body, placeOf(request), keyOf(request))
    return { username, login: session && { token: session.token, expires_in: session.expiresIn } }
  })
}

/** What each does with their own account. */
export function accountRoutes(app: FastifyInstance): void {
  route(app, endpoints.updateAccount, async ({ context, actor, caller, body }) => {
    await renameAccount(context, actor, caller, body.username)
    return accountOf({ ...caller, username: body.username })
  })
  route(app, endpoints.changePassword, ({ context, actor, caller, body, request }) =>
    changePassword(context, actor, caller, body, arrivalOf(request)),
  )
  route(app, endpoints.confirmAccount, async ({ context, caller, body, request }) => {
    await confirmPassword(context, caller, body.password, arrivalOf(request))
    return {}
  })
  route(app, endpoints.listSessions, ({ context, caller }) => listOwnSessions(context, caller))
  route(app, endpoints.endSession, ({ context, actor, caller, params }) =>
    endOwnSession(context, actor, caller, params.id),
  )
  route(app, endpoints.endOtherSessions, ({ context, actor, caller }) =>
    endOtherSessions(context, actor, caller),
  )
}

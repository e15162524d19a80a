import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { confirmPassword } from '../core/accounts/accounts.ts'
import { disconnectPerson } from '../core/console-sign-in/disconnect.ts'
import { beginProviderLogin, finishProviderLogin } from '../core/console-sign-in/login.ts'
import {
  addIdentity,
  listIdentities,
  refuseOther,
  removeIdentity,
} from '../core/console-sign-in/own-identities.ts'
import { previewRules } from '../core/console-sign-in/preview.ts'
import {
  createConsoleProvider,
  openProviderForm,
  removeConsoleProvider,
  updateConsoleProvider,
} from '../core/console-sign-in/providers.ts'
import { readConsoleSignIn, readSignInWays, setPasswordRule } from '../core/console-sign-in/settings.ts'
import { arrivalOf, keyOf } from '../http/auth.ts'
import { formRoute, route } from '../http/route.ts'
import { placeOf } from './auth.ts'
import { beginTrial } from './sign-in.ts'

/** Signing in to the console by a provider, and how administrators set that up. */
export function consoleSignInRoutes(app: FastifyInstance): void {
  loginRoutes(app)
  identityRoutes(app)
  route(app, endpoints.getConsoleSignIn, ({ context }) => readConsoleSignIn(context))
  route(app, endpoints.setPasswordRule, ({ context, actor, body }) =>
    setPasswordRule(context, actor, body.person),
  )
  formRoute(app, endpoints.createConsoleProvider, ({ context, actor, patch }) =>
    createConsoleProvider(context, actor, patch),
  )
  formRoute(app, endpoints.updateConsoleProvider, ({ context, actor, params, patch }) =>
    updateConsoleProvider(context, actor, params.id, patch),
  )
  route(app, endpoints.deleteConsoleProvider, ({ context, actor, params }) =>
    removeConsoleProvider(context, actor, params.id),
  )
  route(app, endpoints.tryConsoleProvider, async ({ context, caller, body, request, reply }) => {
    const provider = await openProviderForm(context, body.form, body.id)
    return await beginTrial({ context, caller, request, reply }, provider)
  })
  route(app, endpoints.previewRules, ({ context, caller, body }) =>
    previewRules(context.trials.findAccount(caller.sessionId), body.rules),
  )
}

function loginRoutes(app: FastifyInstance): void {
  route(app, endpoints.getSignInWays, ({ context }) => readSignInWays(context))
  route(app, endpoints.beginProviderLogin, async ({ context, body, request }) => ({
    address: await beginProviderLogin(context, body, placeOf(request), keyOf(request)),
  }))
  route(app, endpoints.loginByProvider, ({ context, body, request }) =>
    finishProviderLogin(context, body.ticket, placeOf(request), keyOf(request)),
  )
}

/** The providers' accounts with which a person signs in. */
function identityRoutes(app: FastifyInstance): void {
  route(app, endpoints.listIdentities, ({ context, caller }) => listIdentities(context.db, caller.userId))
  route(app, endpoints.beginIdentity, async ({ context, caller, body, request }) => {
    const { id, ...confirmed } = await confirmPassword(context, caller, body.password, arrivalOf(request))
    await refuseOther(context.db, id)
    const purpose = { kind: 'connect', userId: id, ...confirmed } as const
    return { address: await context.providerLogins.begin(body.provider, keyOf(request), purpose) }
  })
  route(app, endpoints.addIdentity, ({ context, actor, caller, body, request }) =>
    addIdentity(context, actor, caller, body.ticket, keyOf(request)),
  )
  route(app, endpoints.removeIdentity, async ({ context, actor, caller, params, body, request }) => {
    const confirmed = await confirmPassword(context, caller, body.password, arrivalOf(request))
    return await removeIdentity(context, actor, caller, confirmed, params.id)
  })
  route(app, endpoints.disconnectPerson, ({ context, actor, caller, params }) =>
    disconnectPerson(context, actor, caller, params.id),
  )
}

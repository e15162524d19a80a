import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { confirmPassword } from '../core/accounts/accounts.ts'
import { beginAuthenticator, confirmAuthenticator } from '../core/accounts/factors/authenticator.ts'
import {
  makeRecoveryCodes,
  readFactors,
  removeAuthenticator,
  removeFactorsOf,
} from '../core/accounts/factors/factors.ts'
import { addPasskey, beginPasskey } from '../core/accounts/factors/new-passkeys.ts'
import { removePasskey, renamePasskey } from '../core/accounts/factors/passkeys.ts'
import { beginPasskeySignIn, finishByCode, finishByPasskey } from '../core/accounts/factors/second-step.ts'
import { arrivalOf, keyOf } from '../http/auth.ts'
import { type Call, route } from '../http/route.ts'
import { placeOf } from './auth.ts'

/** A person's own second factors, and signing in by them. */
export function factorRoutes(app: FastifyInstance): void {
  secondStepRoutes(app)
  authenticatorRoutes(app)
  passkeyRoutes(app)
  route(app, endpoints.getFactors, ({ context, caller, request }) =>
    readFactors(context, caller, request.host),
  )
  route(app, endpoints.makeRecoveryCodes, async (call) => {
    return await makeRecoveryCodes(call.context, call.actor, await confirm(call))
  })
  route(app, endpoints.removeFactors, async ({ context, actor, caller, params }) => {
    await removeFactorsOf(context, actor, caller, params.id)
    return { id: params.id }
  })
}

function secondStepRoutes(app: FastifyInstance): void {
  route(app, endpoints.loginByCode, async ({ context, body, request }) => {
    const { token, expiresIn } = await finishByCode(context, body, placeOf(request), keyOf(request))
    return { token, expires_in: expiresIn }
  })
  route(app, endpoints.beginPasskeyLogin, ({ context, request }) =>
    beginPasskeySignIn(context, placeOf(request), keyOf(request)),
  )
  route(app, endpoints.loginByPasskey, async ({ context, body, request }) => {
    const begun = await finishByPasskey(context, body, placeOf(request), keyOf(request))
    return { token: begun.token, expires_in: begun.expiresIn, username: begun.username }
  })
}

function authenticatorRoutes(app: FastifyInstance): void {
  route(app, endpoints.beginAuthenticator, async (call) => {
    return beginAuthenticator(call.context, call.caller, await confirm(call))
  })
  route(app, endpoints.confirmAuthenticator, ({ context, actor, caller, body }) =>
    confirmAuthenticator(context, actor, caller, body),
  )
  route(app, endpoints.removeAuthenticator, async (call) => {
    await removeAuthenticator(call.context, call.actor, call.caller, await confirm(call))
    return await readFactors(call.context, call.caller, call.request.host)
  })
}

function passkeyRoutes(app: FastifyInstance): void {
  route(app, endpoints.beginPasskey, async (call) => {
    return await beginPasskey(call.context, call.caller, await confirm(call), call.request.host)
  })
  route(app, endpoints.addPasskey, ({ context, actor, caller, body }) =>
    addPasskey(context, actor, caller, body),
  )
  route(app, endpoints.renamePasskey, ({ context, actor, caller, params, body }) =>
    renamePasskey(context, actor, caller, params.id, body.name),
  )
  route(app, endpoints.removePasskey, async (call) => {
    await removePasskey(call.context, call.actor, call.caller, await confirm(call), call.params.id)
    return { id: call.params.id }
  })
}

type Confirming = Pick<Call<typeof endpoints.makeRecoveryCodes>, 'context' | 'caller' | 'body' | 'request'>

const confirm = ({ context, caller, body, request }: Confirming) =>
  confirmPassword(context, caller, body.password, arrivalOf(request))

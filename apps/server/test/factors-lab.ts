import { SESSION_KEY_HEADER } from '@postern/contract/sign-in/auth'
import type { AuthenticatorStart, Factors, GivenCodes } from '@postern/contract/sign-in/factors'
import type { SecondStep } from '@postern/contract/sign-in/second-step'
import { oneTimeCode } from '@postern/testkit/one-time-code'
import { type Client, TEST_ADMIN, type TestServer } from '@postern/testkit/server'
import { createSoftPasskey, type SoftPasskey } from '@postern/testkit/soft-passkey'
import type { InjectOptions } from 'fastify'
import { STEP_MS } from '../src/core/accounts/factors/totp.ts'

/** The console's own address on its machine, where passkeys work without a certificate. */
export const SITE = 'localhost:3000'
export const ORIGIN = `http://${SITE}`
const ADDRESS = '198.51.100.7'

/** Calls of a browser at the console, and what a person does there. */
export function factorsLab(server: TestServer) {
  const send = (url: string, payload: object, from: { address?: string; key?: string; host?: string } = {}) =>
    server.call({
      method: 'POST',
      url,
      payload,
      remoteAddress: from.address ?? ADDRESS,
      headers: { host: from.host ?? SITE, ...(from.key && { [SESSION_KEY_HEADER]: from.key }) },
    })
  const as = (client: Client, method: InjectOptions['method'], url: string, payload?: object, host = SITE) =>
    server.call({
      ...{ method: method ?? 'GET', url },
      headers: { host, authorization: `Bearer ${client.token}` },
      ...(payload && { payload }),
    })
  const password = { password: TEST_ADMIN.password }
  return {
    send,
    as,
    password,
    login: (from = {}) => send('/api/auth/login', TEST_ADMIN, from),
    /** Signs in by password. @returns what is wanted besides */
    async firstStep(from = {}): Promise<SecondStep['second_factor']> {
      const answer = await send('/api/auth/login', TEST_ADMIN, from)
      return answer.json<SecondStep>().second_factor
    },
    giveCode: (ticket: string, code: string, from = {}) => send('/api/auth/code', { ticket, code }, from),
    givePasskey: (ticket: string, answer: object, from = {}) =>
      send('/api/auth/passkey', { ticket, answer }, from),
    factors: async (client: Client) => (await as(client, 'GET', '/api/account/factors')).json<Factors>(),
    /** Sets up an authenticator app. */
    async addApp(client: Client) {
      const begun = (
        await as(client, 'POST', '/api/account/authenticator', password)
      ).json<AuthenticatorStart>()
      const code = (steps = 0) => oneTimeCode(begun.secret, server.now + steps * STEP_MS)
      const confirmed = await as(client, 'POST', '/api/account/authenticator/confirm', {
        ticket: begun.ticket,
        code: code(),
      })
      return { ...begun, code, codes: confirmed.json<GivenCodes>().recoveryCodes ?? [] }
    },
    /** Registers a passkey. */
    async addPasskey(client: Client, name = 'Laptop', host = SITE, origin = ORIGIN) {
      const begun = (await as(client, 'POST', '/api/account/passkeys/challenge', password, host)).json()
      const passkey: SoftPasskey = createSoftPasskey(origin)
      const body = { ticket: begun.ticket, name, passkey: passkey.create(begun.passkey) }
      const added = await as(client, 'POST', '/api/account/passkeys', body, host)
      return { passkey, added, body }
    },
  }
}

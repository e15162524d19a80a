import { SIGN_IN } from '@postern/contract/sign-in'
import { errors, jwtVerify, SignJWT } from 'jose'
import * as z from 'zod/mini'
import type { Identities } from './identities.ts'
import type { SignInKeys } from './keys.ts'

/** What a session says of a visitor. Times in seconds since the epoch. */
const Claims = z.object({
  /** The entry in the list of the domain by which the visitor may come in. */
  member: z.string().check(z.regex(/^[1-9]\d{0,14}$/)),
  email: z.string(),
  /** The domain. */
  aud: z.string(),
  iat: z.number(),
  exp: z.number(),
  /** When the provider was asked last. */
  auth_time: z.number(),
  /** What HAProxy hands to the service: sealed in here, so that nobody brings another visitor's, and as long as this. */
  identity: z.optional(z.string()),
})
export type VisitorClaims = z.infer<typeof Claims>

/** Sessions of visitors: JWTs, which HAProxy checks by itself. */
export interface VisitorSessions {
  seal(visitor: Pick<VisitorClaims, 'member' | 'email' | 'aud' | 'auth_time'>): Promise<string>
  /** @returns undefined unless it is sealed here and still good */
  read(session: string): Promise<VisitorClaims | undefined>
}

interface Parts {
  signInKeys: Pick<SignInKeys, 'all' | 'current'>
  identities: Pick<Identities, 'seal'>
  clock(): number
}

export function createVisitorSessions({ signInKeys: keys, identities, clock }: Parts): VisitorSessions {
  const seconds = () => Math.floor(clock() / 1000)
  return {
    async seal(visitor) {
      const { id, secret } = keys.current()
      const times = { iat: seconds(), exp: seconds() + SIGN_IN.sessionSeconds }
      const identity = await identities.seal({ email: visitor.email, aud: visitor.aud, ...times })
      const claims: VisitorClaims = { ...visitor, ...times, identity }
      return await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: id }).sign(bytesOf(secret))
    },
    async read(session) {
      if (session.length > SIGN_IN.maxSession) return undefined
      const keyOf = ({ kid }: { kid?: string }) => bytesOf(keys.all().find(({ id }) => id === kid)?.secret)
      const options = { algorithms: ['HS256'], currentDate: new Date(clock()) }
      try {
        const { payload } = await jwtVerify(session, keyOf, options)
        return Claims.safeParse(payload).data
      } catch (error) {
        // Not sealed here, or not good any more: both are the same to whoever asks.
        if (error instanceof errors.JOSEError) return undefined
        throw error
      }
    },
  }
}

/** @throws JOSEError when no key has this id */
function bytesOf(secret: string | undefined): Uint8Array {
  if (secret === undefined) throw new errors.JWKSNoMatchingKey()
  return new TextEncoder().encode(secret)
}

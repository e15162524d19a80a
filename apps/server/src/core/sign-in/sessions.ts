import { SIGN_IN } from '@postern/contract/sign-in/sign-in'
import { errors, jwtVerify, SignJWT } from 'jose'
import * as z from 'zod/mini'
import type { Identities } from './identities.ts'
import type { SignInKeys } from './keys.ts'

/** The content of a visitor's session. Times in seconds since the epoch. */
const Claims = z.object({
  /** The entry in the domain's list that admits the visitor. */
  member: z.string().check(z.regex(/^[1-9]\d{0,14}$/)),
  email: z.string(),
  /** The domain. */
  aud: z.string(),
  iat: z.number(),
  exp: z.number(),
  /** When the provider last confirmed the visitor. */
  auth_time: z.number(),
  /** Which provider did, as the digest of its issuer; sessions of earlier versions do not say. */
  provider: z.optional(z.string()),
  /**
   * The identity that HAProxy passes to the service. It is inside the seal, so that nobody can present another
   * visitor's.
   */
  identity: z.optional(z.string()),
})
export type VisitorClaims = z.infer<typeof Claims>

/** Sessions of visitors: JWTs, which HAProxy itself checks. */
export interface VisitorSessions {
  seal(visitor: Pick<VisitorClaims, 'member' | 'email' | 'aud' | 'auth_time' | 'provider'>): Promise<string>
  /** @returns undefined unless it was sealed here and is still valid */
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
        // Not sealed here, or expired: for the caller both are the same.
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

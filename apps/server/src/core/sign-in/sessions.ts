import { createHmac, timingSafeEqual } from 'node:crypto'
import { SIGN_IN } from '@postern/contract/sign-in'
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
  seal(visitor: Pick<VisitorClaims, 'member' | 'email' | 'aud' | 'auth_time'>): string
  /** @returns undefined unless it is sealed here and still good */
  read(session: string): VisitorClaims | undefined
}

interface Parts {
  signInKeys: Pick<SignInKeys, 'all' | 'current'>
  identities: Pick<Identities, 'seal'>
  clock(): number
}

export function createVisitorSessions({ signInKeys: keys, identities, clock }: Parts): VisitorSessions {
  const seconds = () => Math.floor(clock() / 1000)
  return {
    seal(visitor) {
      const { id, secret } = keys.current()
      const times = { iat: seconds(), exp: seconds() + SIGN_IN.sessionSeconds }
      const identity = identities.seal({ email: visitor.email, aud: visitor.aud, ...times })
      const claims: VisitorClaims = { ...visitor, ...times, identity }
      const text = `${partOf({ alg: 'HS256', kid: id })}.${partOf(claims)}`
      return `${text}.${macOf(text, secret)}`
    },
    read(session) {
      const [head = '', body = '', mac = ''] = session.length > SIGN_IN.maxSession ? [] : session.split('.')
      const key = keys.all().find(({ id }) => head === partOf({ alg: 'HS256', kid: id }))
      if (!key || !isSame(mac, macOf(`${head}.${body}`, key.secret))) return undefined
      const claims = Claims.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')))
      return claims.success && claims.data.exp > seconds() ? claims.data : undefined
    },
  }
}

function partOf(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function macOf(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url')
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** What the server and the edge agree on for the sign-in in front of services. */
export const SIGN_IN = {
  /** At every domain with sign-in these lead to the server. */
  paths: {
    begin: '/.postern/sign-in',
    arrive: '/.postern/arrive',
    renew: '/.postern/renew',
    signOut: '/.postern/sign-out',
    /** Public keys with which services verify an identity; at the console's host too. HAProxy itself answers. */
    keys: '/.postern/jwks.json',
  },
  /** At the console's host: the one redirect address that the provider knows. */
  callback: '/.postern/callback',
  /** The session's cookie. The names of the flow's other cookies begin with it; none of them reaches a service. */
  cookie: '__Host-postern',
  sessionSeconds: 12 * 3600,
  /** Set from the session, and from nowhere else. */
  identityHeaders: ['X-Auth-Request-Email', 'Remote-Email', 'Remote-User'],
  /** The same as a JWT (ES256) for this one domain, for services that verify where it comes from. */
  identityToken: 'X-Postern-Identity',
  /** The longest session: browsers drop a cookie of more than 4096 characters including its name. */
  maxSession: 4000,
} as const

/**
 * The first part of a session, by which HAProxy finds the key that sealed it.
 * @param keyId letters and digits
 */
export function sessionHead(keyId: string): string {
  const text = btoa(JSON.stringify({ alg: 'HS256', kid: keyId }))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

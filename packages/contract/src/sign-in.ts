/** What server and edge agree on about the sign-in in front of services. */
export const SIGN_IN = {
  /** At every domain with sign-in these lead to the server. */
  paths: {
    begin: '/.postern/sign-in',
    arrive: '/.postern/arrive',
    renew: '/.postern/renew',
    signOut: '/.postern/sign-out',
  },
  /** At the console's host: the one redirect address that the provider knows. */
  callback: '/.postern/callback',
  /** The session's. Others of the flow begin with it; none of them reaches a service. */
  cookie: '__Host-postern',
  sessionSeconds: 12 * 3600,
  /** Set from the session, and from nowhere else. */
  identityHeaders: ['X-Auth-Request-Email', 'Remote-Email', 'Remote-User'],
} as const

import * as z from 'zod/mini'

/** The provider of the sign-in in front of services, as the server finds it now. */
export const ProviderCheck = z.object({
  /** Null: none is set up. */
  issuer: z.nullable(z.string()),
  /** What has to be entered at the provider. */
  redirectUrl: z.string(),
  endpoints: z.array(z.object({ name: z.string(), url: z.string() })),
  /** Why nobody can sign in, in words. */
  problem: z.nullable(z.string()),
})
export type ProviderCheck = z.infer<typeof ProviderCheck>

/** The address at the provider where an operator signs in to try it out. */
export const TrialStart = z.object({ address: z.string().check(z.regex(/^https?:\/\//)) })

export const TrialAccount = z.object({
  /** In lower case, as in the lists of e-mails; null: the provider does not say. */
  email: z.nullable(z.string()),
  /** Why this account is admitted nowhere; null: its address counts. */
  doubt: z.nullable(z.string()),
  claims: z.array(z.object({ name: z.string(), value: z.string() })),
})
export type TrialAccount = z.infer<typeof TrialAccount>

/** The outcome of the last trial that this session of the console began. */
export const Trial = z.discriminatedUnion('state', [
  z.object({ state: z.literal('none') }),
  z.object({ state: z.literal('waiting') }),
  z.object({ state: z.literal('failed'), problem: z.string() }),
  z.object({ state: z.literal('done'), account: TrialAccount }),
])
export type Trial = z.infer<typeof Trial>

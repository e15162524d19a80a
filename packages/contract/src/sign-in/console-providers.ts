import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { MESSAGES, missing } from '../messages.ts'
import { findSettingFault } from '../settings/console-settings.ts'
import { Role } from './auth.ts'
import { TrialAccount } from './trials.ts'

/** The providers with which people sign in to the console, besides their passwords. */

const text = (max: number) =>
  z.string(missing(MESSAGES.required)).check(z.trim(), z.minLength(1, MESSAGES.required), z.maxLength(max))

/** As in the setting `POSTERN_OIDC_ISSUER`: a provider's name, or its address. */
const issuer = text(2000).check((checked) => {
  const message = findSettingFault('POSTERN_OIDC_ISSUER', checked.value)
  if (message !== undefined) checked.issues.push({ code: 'custom', message, input: checked.value })
})

/**
 * Gives a role to the accounts whose claim has this value. A claim that is a list has each of its values. Letters count
 * as they are written, except in `email`, which counts only when the provider has verified it.
 */
export const RoleRule = z.strictObject({ claim: text(100), value: text(300), role: Role })
export type RoleRule = z.infer<typeof RoleRule>

const providerFields = {
  /** On the button below the sign-in's form. */
  name: f.name,
  issuer,
  clientId: text(500),
  /** Null or absent keeps the stored one. It is in no answer. */
  clientSecret: f.blankable(z.string().check(z.trim(), z.maxLength(2000))),
  /**
   * Whether an account is made for a person who signs in for the first time and to whom a rule gives a role. Otherwise
   * people connect this provider with the account to which they were invited.
   */
  makesAccounts: f.withDefault(z.boolean(), false),
  /** The first one that fits decides. Accounts that were made by a sign-in get the role anew each time. */
  rules: f.listOf(RoleRule, LIMITS.roleRules),
}

/** Also for trying it out before it is saved. */
export const ConsoleProviderForm = z.strictObject(providerFields).check(
  z.superRefine(({ makesAccounts, rules }, found) => {
    if (makesAccounts && rules.length === 0)
      found.addIssue({ code: 'custom', path: ['rules'], message: MESSAGES.rulesRequired, input: rules })
  }, f.together),
)
export type ConsoleProviderForm = z.output<typeof ConsoleProviderForm>
export type ConsoleProviderFormInput = z.input<typeof ConsoleProviderForm>

export const ConsoleProvider = z.object({
  id: z.number(),
  name: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  makesAccounts: z.boolean(),
  rules: z.array(RoleRule),
  /** How many people have connected it with their accounts. */
  people: z.number(),
  created_at: f.time,
  updated_at: f.time,
})
export type ConsoleProvider = z.infer<typeof ConsoleProvider>

/** How people sign in to the console. */
export const ConsoleSignIn = z.object({
  providers: z.array(ConsoleProvider),
  /** The one person who may still use a password; null: everybody may. */
  passwordOnlyFor: z.nullable(z.object({ id: z.number(), username: z.string() })),
  /** What has to be entered at each provider. */
  redirectUrl: z.string(),
})
export type ConsoleSignIn = z.infer<typeof ConsoleSignIn>

/** `person`: an administrator who is enabled and has a password; null: everybody may use one. */
export const PasswordRule = z.strictObject({ person: f.blankable(f.id) })

/** Tries a provider out with the values of its form. `id`: whose stored secret is taken where the form has none. */
export const ProviderTrialForm = z.strictObject({ id: f.blankable(f.id), form: ConsoleProviderForm })

export const RulesForm = z.strictObject({ rules: f.listOf(RoleRule, LIMITS.roleRules) })

/** What rules would make of the account of this session's last trial. */
export const RulesPreview = z.object({
  account: z.nullable(TrialAccount),
  /** Null: none, and nobody without an account would be let in. */
  role: z.nullable(Role),
  /** The index of the rule that decided; null: none fits. */
  rule: z.nullable(z.number()),
})
export type RulesPreview = z.infer<typeof RulesPreview>

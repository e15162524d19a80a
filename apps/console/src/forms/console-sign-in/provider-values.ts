import {
  type ConsoleProvider,
  type ConsoleProviderFormInput,
  RoleRule,
  type RulesPreview,
} from '@postern/contract/sign-in/console-providers'
import { ROLES } from '../../components/people/roles.ts'

type Values = ConsoleProviderFormInput & { rules: RoleRule[] }

/** The form's values while it is edited; null for the stored secret, which stays. */
export function providerValues(provider: ConsoleProvider | undefined): Values {
  if (!provider)
    return { name: '', issuer: '', clientId: '', clientSecret: '', makesAccounts: false, rules: [] }
  const { name, issuer, clientId, makesAccounts, rules } = provider
  return {
    name,
    issuer,
    clientId,
    clientSecret: null,
    makesAccounts,
    rules: rules.map((rule) => ({ ...rule })),
  }
}

/** The values that a rule can ask for, of a claim as a trial shows it: a list has each of its own, an object none. */
export function valuesOfClaim(text: string): string[] {
  if (!/^[[{]/.test(text)) return [text]
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed.filter(isPlain).map(String) : []
  } catch {
    // What is long is shown in part.
    return []
  }
}

const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

/** The rules with one more for this value, in the place of an empty last one; the same if there is one already. */
export function withRule(rules: readonly RoleRule[], claim: string, value: string): readonly RoleRule[] {
  if (rules.some((rule) => rule.claim === claim && rule.value === value)) return rules
  const last = rules.at(-1)
  const isEmpty = last !== undefined && last.claim.trim() === '' && last.value.trim() === ''
  const role = isEmpty ? last.role : 'viewer'
  return [...(isEmpty ? rules.slice(0, -1) : rules), { claim, value, role }]
}

/** The rules that can be judged, while others are still typed, and the place of each in the form. */
export function completeRules(rules: readonly RoleRule[]): { rules: RoleRule[]; places: number[] } {
  const complete = rules.flatMap((rule, place) => {
    const { data } = RoleRule.safeParse(rule)
    return data ? [{ rule: data, place }] : []
  })
  return { rules: complete.map(({ rule }) => rule), places: complete.map(({ place }) => place) }
}

/** What the rules make of the account that was tried. @param places of `completeRules` */
export function decisionText(
  { role, rule }: Pick<RulesPreview, 'role' | 'rule'>,
  places: readonly number[],
): string {
  if (role === null || rule === null) return 'No rule fits: nobody without an account gets in.'
  return `Rule ${(places[rule] ?? rule) + 1} gives ${ROLES[role].text}.`
}

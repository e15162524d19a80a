import { foldEmail } from '@postern/contract/fields'
import type { Role } from '@postern/contract/sign-in/auth'
import type { RoleRule } from '@postern/contract/sign-in/console-providers'
import type { Account } from '../sign-in/provider.ts'

export type Claimed = Pick<Account, 'claims' | 'email' | 'doubt'>

/**
 * The first rule that fits an account. A claim that is a list has each of its values; numbers and booleans count as their
 * text, and what is nested in others does not count. An address counts only when the provider has verified it.
 * @returns the role with the rule's index; undefined: none fits
 */
export function findRule(
  rules: readonly RoleRule[],
  account: Claimed,
): { role: Role; index: number } | undefined {
  const index = rules.findIndex((rule) => fits(rule, account))
  const rule = rules[index]
  return rule && { role: rule.role, index }
}

function fits({ claim, value }: RoleRule, { claims, email, doubt }: Claimed): boolean {
  if (claim === 'email') return doubt === null && email === foldEmail(value)
  const held: unknown = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  return [held].flat().some((each) => isPlain(each) && String(each) === value)
}

const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

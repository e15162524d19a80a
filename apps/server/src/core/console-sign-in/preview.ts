import type { RoleRule, RulesPreview } from '@postern/contract/sign-in/console-providers'
import type { Account } from '../sign-in/provider.ts'
import { shownOf } from '../sign-in/trials.ts'
import { findRule } from './rules.ts'

/** @param account of the last trial of the person's session */
export function previewRules(account: Account | undefined, rules: readonly RoleRule[]): RulesPreview {
  if (!account) return { account: null, role: null, rule: null }
  const found = findRule(rules, account)
  return { account: shownOf(account), role: found?.role ?? null, rule: found?.index ?? null }
}

import { BUILT_IN_RULES } from '@postern/contract/alerts/rules'
import type { Context } from '../../context.ts'

/** Minutes until somebody is told, null for what just happens; and the threshold where it has one. */
const USUAL: Readonly<Record<keyof typeof BUILT_IN_RULES, { minutes: number | null; threshold?: number }>> = {
  'node-lost': { minutes: 5 },
  'service-unanswered': { minutes: 5 },
  'certificate-ending': { minutes: 1, threshold: 14 },
  'edge-gone': { minutes: 2 },
  'edge-problem': { minutes: 5 },
  'disk-full': { minutes: 5, threshold: 10 },
  'update-waiting': { minutes: 10 },
  'backup-failed': { minutes: 1 },
  'new-network': { minutes: null },
}

/** Adds the rules that this version has and the database does not. */
export async function seedRules({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<void> {
  const now = new Date(clock()).toISOString()
  // The keys of the record are the kinds.
  const kinds = Object.keys(BUILT_IN_RULES) as (keyof typeof BUILT_IN_RULES)[]
  const rows = kinds.map((kind) => ({
    kind,
    name: BUILT_IN_RULES[kind],
    enabled: 1 as const,
    minutes: USUAL[kind].minutes,
    threshold: USUAL[kind].threshold ?? null,
    created_at: now,
    updated_at: now,
  }))
  await db
    .insertInto('alert_rules')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

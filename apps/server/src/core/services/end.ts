import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import type { ServiceForm } from './backend-host.ts'
import type { ServiceRecordRow } from './records.ts'

/** When the service of a form ends. */
export function endOf({ endsAt, ttl }: Pick<ServiceForm, 'endsAt' | 'ttl'>, now: number): string | null {
  return ttl ? new Date(now + ttl * 1000).toISOString() : endsAt
}

/** An end is still to come, and the console has none. */
export function findEndProblem(
  { endsAt = null, ttl }: Partial<ServiceForm>,
  now: number,
  before: ServiceRecordRow | undefined,
): FieldError[] {
  const field = ttl ? 'ttl' : 'endsAt'
  if (before?.system === 1 && (ttl || endsAt !== null))
    return [{ field, message: 'cannot be changed for the console' }]
  if (ttl || endsAt === null || endsAt === before?.ends_at || Date.parse(endsAt) > now) return []
  return [{ field, message: MESSAGES.pastEnd }]
}

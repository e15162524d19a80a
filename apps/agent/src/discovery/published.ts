import type { FieldError } from '@postern/contract/errors'
import type { Publication } from '@postern/contract/services/publishing'
import * as z from 'zod/mini'
import { printable } from '../io.ts'

/** The outcome of an offer, for the log and `postern status`. */
export const Published = z.object({
  key: z.string(),
  state: z.enum(['published', 'disabled', 'refused']),
  /** Its public address. */
  address: z.nullable(z.string()),
  /** Why it was refused, in words. */
  problem: z.nullable(z.string()),
})
export type Published = z.infer<typeof Published>

export function toPublished(publication: Publication): Published {
  const key = printable(publication.key)
  if (publication.state === 'refused') {
    const problem = publication.errors.map(sayError).join('; ').replaceAll('.;', ';')
    return { key, state: 'refused', address: null, problem: printable(problem, 1000) }
  }
  const state = publication.disabledByPerson ? 'disabled' : 'published'
  return { key, state, address: printable(publication.address) || null, problem: null }
}

/** Some messages are sentences, others continue the name of their field. */
function sayError({ field, message }: FieldError): string {
  return /^\p{Lu}/u.test(message) ? `${field}: ${message}` : `${field} ${message}`
}

/** One service in a line of the log or of `postern status`. */
export function describe({ key, state, address, problem }: Published): string {
  if (state === 'refused') return `${key} is refused: ${problem ?? 'the server does not say why'}`
  if (state === 'disabled') return `${key} is disabled in the console`
  return `${key} is published at ${address ?? 'an address that the console shows'}`
}

import { MESSAGES } from '@postern/contract/messages'
import type { RequestError } from '../errors.ts'

/** As the forms call what a reason can be about. */
const LABELS: Readonly<Record<string, string>> = {
  backendHost: 'backend host',
  pathLocation: 'path',
  domain: 'domain',
  port: 'port',
  requireAuth: 'sign-in',
}

/** Why one record was left as it is, in words that need no form around them. */
export function reasonOf({ message, errors = [] }: RequestError): string {
  if (errors.length === 0) return message
  return [...new Set(errors.map(({ field, message: words }) => sentence(LABELS[field], words)))].join('. ')
}

/** Below a field some words go without a subject. */
function sentence(label: string | undefined, words: string): string {
  if (label === undefined) return words
  if (words === MESSAGES.required) return ['Its', label, 'is required there'].join(' ')
  const own = words.replace(/^must be a port /, 'must be one ')
  return /^(must|cannot|is|belongs) /.test(own) ? ['Its', label, own].join(' ') : own
}

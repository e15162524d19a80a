import type { Domain, DomainFormInput } from '@postern/contract/domains'

export const NEW_DOMAIN = { domain: '', ssl: 'self-signed', skipValidation: false } satisfies DomainFormInput

/** What the domain form holds while it is edited. A type of null reads as Self Signed. */
export function domainValues({ domain, skipValidation }: Domain) {
  return { domain, ssl: 'self-signed', skipValidation } satisfies DomainFormInput
}

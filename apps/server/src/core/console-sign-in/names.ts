import { LIMITS } from '@postern/contract/limits'
import { personName } from '@postern/contract/people/people'
import { withoutInvisible } from '../people/name-rules.ts'
import { findNameFault } from '../people/names.ts'
import type { Account } from '../sign-in/provider.ts'

/** Claims that name an account: of OpenID Connect, and of GitHub. */
const CLAIMS = ['preferred_username', 'login']
/** All that no name may hold; see the contract's names. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu

/** What a new account could be called, in the spelling that the contract allows, the best first. */
export function listNames({ claims, email }: Pick<Account, 'claims' | 'email'>): string[] {
  return [
    ...CLAIMS.map((claim) => (Object.hasOwn(claims, claim) ? claims[claim] : undefined)),
    email,
  ].flatMap((each) => {
    if (typeof each !== 'string') return []
    const text = withoutInvisible(each.slice(0, 4 * LIMITS.nameLength).replace(HIDDEN, '')).trim()
    const name = personName.safeParse(text.slice(0, LIMITS.nameLength)).data
    return name === undefined || findNameFault(name) !== undefined ? [] : [name]
  })
}

import { ProviderError } from './provider-error.ts'

/** Who says whose account a visitor has, and how Postern is known there. */
export interface Provider {
  readonly issuer: string
  /** Where it is reached. @throws ProviderError */
  discover(): Promise<Discovery>
  /** Where a visitor signs in. @throws ProviderError */
  address(question: Question): Promise<URL>
  /**
   * Redeems what the provider sent the visitor back with.
   * @param rank those of a smaller one go first while many wait
   * @throws ProviderError
   */
  redeem(
    answer: URL,
    question: Pick<Question, 'state' | 'nonce' | 'verifier'>,
    rank?: number,
  ): Promise<Account>
}

export interface Discovery {
  issuer: string
  endpoints: { name: string; url: string }[]
}

export interface Question {
  redirectUrl: string
  state: string
  nonce: string
  /** For PKCE (RFC 7636). */
  verifier: string
  /** Whether the provider shall ask with which account. */
  asksAccount: boolean
}

export interface Account {
  /** As the provider said it. */
  claims: Readonly<Record<string, unknown>>
  /** In lower case; null: it does not say. */
  email: string | null
  /** Why this account comes in nowhere; null: its address counts. */
  doubt: string | null
}

export interface Identity {
  /** In lower case. */
  email: string
  isVerified: boolean
}

/** @throws ProviderError when the provider did not say which address the account has */
export function identityOf({ email, doubt }: Account): Identity {
  if (email === null) throw new ProviderError('refused', doubt ?? 'The account has no e-mail address.')
  return { email, isVerified: doubt === null }
}

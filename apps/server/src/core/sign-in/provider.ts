import { ProviderError } from './provider-error.ts'

/** Where visitors of services, or people who use the console, have accounts. */
export interface Provider {
  readonly issuer: string
  /**
   * Its host.
   * @throws ProviderError
   */
  discover(): Promise<Discovery>
  /**
   * The address where a visitor signs in.
   * @throws ProviderError
   */
  address(question: Question): Promise<URL>
  /**
   * Redeems the code that the visitor brought back.
   * @param rank smaller goes first while many wait
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
  /** Whether the provider is to ask for the account. */
  asksAccount: boolean
}

export interface Account {
  /** As the provider wrote it. */
  claims: Readonly<Record<string, unknown>>
  /** As the provider calls itself, and its name for this account, which stays and never becomes another's. */
  issuer: string
  /** Null: nobody asked for it. */
  subject: string | null
  /** In lower case; null: the provider does not say. */
  email: string | null
  /** Why this account is admitted nowhere; null: its address counts. */
  doubt: string | null
}

export interface Identity {
  /** In lower case. */
  email: string
  isVerified: boolean
}

/** @throws ProviderError when the provider did not send an address */
export function identityOf({ email, doubt }: Account): Identity {
  if (email === null) throw new ProviderError('refused', doubt ?? 'The account has no e-mail address.')
  return { email, isVerified: doubt === null }
}

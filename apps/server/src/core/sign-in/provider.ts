import { readFileSync } from 'node:fs'
import type { Settings } from '@postern/contract/settings'
import * as oidc from 'openid-client'
import { createGate } from '../accounts/gate.ts'

/** An OpenID provider, and how Postern is known there. */
export interface Provider {
  readonly issuer: string
  /** Where a visitor signs in. @throws ProviderError */
  address(question: Question): Promise<URL>
  /** Redeems what the provider sent the visitor back with. @throws ProviderError */
  redeem(answer: URL, question: Pick<Question, 'state' | 'nonce' | 'verifier'>): Promise<Identity>
}

export interface Question {
  redirectUrl: string
  state: string
  nonce: string
  /** Of PKCE. */
  verifier: string
  /** Whether the provider shall ask with which account. */
  asksAccount: boolean
}

export interface Identity {
  /** In lower case. */
  email: string
  isVerified: boolean
}

/** The provider cannot be reached, or its answer is not to be trusted; `message` says why. */
export class ProviderError extends Error {
  readonly code = 'provider'
}

const TIMEOUT_SECONDS = 10
/** Strangers can have the provider asked about codes that they made up. */
const [AT_ONCE, WAITING] = [10, 100]
const GOOGLE = 'https://accounts.google.com'
const MICROSOFT = 'https://login.microsoftonline.com/'

/** @returns undefined when none is set up */
export function createProvider(settings: Settings): Provider | undefined {
  const { POSTERN_OIDC_ISSUER: issuer, POSTERN_OIDC_CLIENT_ID: clientId } = settings
  if (issuer === null || clientId === null) return undefined
  const secret = findSecret(settings)
  const gate = createGate(AT_ONCE, WAITING)
  let found: Promise<oidc.Configuration> | undefined
  const discover = () => {
    found ??= find(issuer, clientId, secret)
    // What fails is asked for again with the next visitor.
    found.catch(() => {
      found = undefined
    })
    return found
  }
  return {
    issuer,
    address: (question) => telling(async () => addressOf(await discover(), question)),
    redeem: (answer, question) =>
      gate.pass(() =>
        telling(async () => {
          const tokens = await oidc.authorizationCodeGrant(await discover(), answer, {
            expectedState: question.state,
            expectedNonce: question.nonce,
            pkceCodeVerifier: question.verifier,
            idTokenExpected: true,
          })
          return identityOf(tokens.claims() ?? {}, issuer)
        }),
      ),
  }
}

function findSecret(settings: Settings): string {
  const { POSTERN_OIDC_CLIENT_SECRET: secret, POSTERN_OIDC_CLIENT_SECRET_FILE: file } = settings
  return secret ?? (file === null ? '' : readFileSync(file, 'utf8').trim())
}

async function find(issuer: string, clientId: string, secret: string): Promise<oidc.Configuration> {
  // Plain HTTP only for a provider on this machine itself: the settings allow no other.
  const plain = issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []
  return await oidc.discovery(new URL(issuer), clientId, secret, undefined, {
    // The signature of an identity counts too, not only from whom it came.
    execute: [...plain, oidc.enableNonRepudiationChecks],
    timeout: TIMEOUT_SECONDS,
  })
}

async function addressOf(configuration: oidc.Configuration, question: Question): Promise<URL> {
  return oidc.buildAuthorizationUrl(configuration, {
    redirect_uri: question.redirectUrl,
    scope: 'openid email',
    state: question.state,
    nonce: question.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(question.verifier),
    code_challenge_method: 'S256',
    ...(question.asksAccount && { prompt: promptOf(configuration) }),
  })
}

/** Whoever may refuse to ask for an account is asked for the sign-in again. */
function promptOf(configuration: oidc.Configuration): string {
  const { issuer, prompt_values_supported: known } = configuration.serverMetadata()
  const isListed = Array.isArray(known) && known.includes('select_account')
  return isListed || issuer.startsWith(MICROSOFT) || issuer === GOOGLE ? 'select_account' : 'login'
}

function identityOf(claims: Record<string, unknown>, issuer: string): Identity {
  const { email, email_verified: isVerified, xms_edov: isOwned } = claims
  if (typeof email !== 'string' || email.length > 254)
    throw new ProviderError('The provider does not say which e-mail address the account has.')
  // Microsoft lets whoever runs a tenant write any address, and says so in a claim of its own.
  const isTrue = (value: unknown) => value === true || value === 'true' || value === 1 || value === '1'
  const isSure = issuer.startsWith(MICROSOFT) ? isTrue(isOwned) : isTrue(isVerified)
  return { email: email.toLowerCase(), isVerified: isSure }
}

/** The library's errors hold what was answered; the message alone is for people. */
async function telling<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProviderError || !(error instanceof Error)) throw error
    const words = 'error_description' in error ? String(error.error_description) : error.message
    throw new ProviderError(words, { cause: error })
  }
}

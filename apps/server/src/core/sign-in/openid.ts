import { foldEmail } from '@postern/contract/fields'
import * as oidc from 'openid-client'
import type { Fetch } from './bounded-fetch.ts'
import type { Account, Provider, Question } from './provider.ts'
import { ProviderError, telling } from './provider-error.ts'

/** Postern's registration at a provider, and how to reach it. */
export interface Registration {
  clientId: string
  secret: string
  fetch: Fetch
  timeoutSeconds: number
  /** Of visitors only the address is asked for; of people who use the console all that their account tells of them. */
  wants: 'email' | 'profile'
}

const GOOGLE = 'https://accounts.google.com'
/** Microsoft's clouds. */
const MICROSOFT = /(^|\.)(microsoftonline\.(com|us|cn)|windows\.net|ciamlogin\.com)$/

/** Its addresses for accounts of any tenant, where each tenant's administrator writes claims at will. */
export function isOfAnyTenant(issuer: string): boolean {
  const { hostname, pathname } = URL.parse(issuer) ?? { hostname: '', pathname: '' }
  return MICROSOFT.test(hostname) && /^\/(common|organizations|consumers)(\/|$)/i.test(pathname)
}

/** A provider with OpenID Connect. */
export function createOpenIdProvider(issuer: string, registration: Registration): Provider {
  const { host } = new URL(issuer)
  let found: Promise<oidc.Configuration> | undefined
  const discover = () => {
    found ??= find(issuer, registration)
    // A failed discovery is repeated for the next visitor.
    found.catch(() => {
      found = undefined
    })
    return found
  }
  return {
    issuer,
    discover: () => telling(host, async () => describe(await discover())),
    address: (question) =>
      telling(host, async () => addressOf(await discover(), question, registration.wants)),
    redeem: (answer, question) =>
      telling(host, async () => {
        const configuration = await discover()
        const tokens = await oidc.authorizationCodeGrant(configuration, answer, {
          expectedState: question.state,
          expectedNonce: question.nonce,
          pkceCodeVerifier: question.verifier,
          idTokenExpected: true,
        })
        // Asked for with `idTokenExpected`.
        const own = tokens.claims() as oidc.IDToken
        const claims =
          registration.wants === 'profile' ? await withUserInfo(configuration, tokens, own) : { ...own }
        return {
          ...accountOf(claims, MICROSOFT.test(new URL(issuer).hostname)),
          ...{ issuer: own.iss, subject: own.sub },
        }
      }),
  }
}

async function find(issuer: string, registration: Registration): Promise<oidc.Configuration> {
  const { clientId, secret, fetch, timeoutSeconds } = registration
  // Plain HTTP only for a provider on this machine: the settings allow no other.
  const plain = issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []
  return await oidc.discovery(new URL(issuer), clientId, secret, undefined, {
    // Verifies the signature of an identity too, not only where it came from.
    execute: [...plain, oidc.enableNonRepudiationChecks],
    timeout: timeoutSeconds,
    [oidc.customFetch]: fetch,
  })
}

function describe(configuration: oidc.Configuration) {
  const { issuer, authorization_endpoint, token_endpoint, jwks_uri } = configuration.serverMetadata()
  const all = { Authorization: authorization_endpoint, Token: token_endpoint, Keys: jwks_uri }
  const endpoints = Object.entries(all).flatMap(([name, url]) => (url === undefined ? [] : [{ name, url }]))
  return { issuer, endpoints }
}

/** Many providers tell groups and names only at a second address. What the signed identity says goes before. */
async function withUserInfo(
  configuration: oidc.Configuration,
  { access_token }: oidc.TokenEndpointResponse,
  own: oidc.IDToken,
): Promise<Record<string, unknown>> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return { ...own }
  const { email, email_verified, xms_edov, ...more } = await oidc.fetchUserInfo(
    configuration,
    access_token,
    own.sub,
  )
  if (own.email !== undefined) return { ...more, ...own }
  // An address is never verified by the word about another one.
  const { email_verified: _, xms_edov: __, ...rest } = own
  return { ...more, ...rest, email, email_verified, xms_edov }
}

/** Providers that know it tell groups only to those who ask for this scope. */
function scopeOf(configuration: oidc.Configuration, wants: Registration['wants']): string {
  const { scopes_supported: known } = configuration.serverMetadata()
  const hasGroups = Array.isArray(known) && known.includes('groups')
  return wants === 'email' ? 'openid email' : `openid email profile${hasGroups ? ' groups' : ''}`
}

async function addressOf(
  configuration: oidc.Configuration,
  question: Question,
  wants: Registration['wants'],
): Promise<URL> {
  const address = await buildAddress(configuration, question, {
    scope: scopeOf(configuration, wants),
    nonce: question.nonce,
    ...(question.asksAccount && { prompt: promptOf(configuration) }),
  })
  if (!['https:', 'http:'].includes(address.protocol))
    throw new ProviderError('untrusted', 'The provider sends people to an address that is not on the web.')
  return address
}

/** The provider's address with the parameters that every OAuth 2 provider needs. */
export async function buildAddress(
  configuration: oidc.Configuration,
  { redirectUrl, state, verifier }: Question,
  more: Record<string, string>,
): Promise<URL> {
  return oidc.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUrl,
    state,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...more,
  })
}

/** Providers that may ignore the choice of an account are asked to sign in again. */
function promptOf(configuration: oidc.Configuration): string {
  const { issuer, prompt_values_supported: known } = configuration.serverMetadata()
  const isListed = Array.isArray(known) && known.includes('select_account')
  const isKnown = issuer === GOOGLE || MICROSOFT.test(new URL(issuer).hostname)
  return isListed || isKnown ? 'select_account' : 'login'
}

/**
 * The administrator of a Microsoft tenant can write any address into an account. A separate claim shows that
 * Microsoft has verified the domain as the tenant's, and only this claim counts.
 */
function accountOf(
  claims: Account['claims'],
  isMicrosoft: boolean,
): Pick<Account, 'claims' | 'email' | 'doubt'> {
  const { email, email_verified: isVerified, xms_edov: isOwned } = claims
  if (typeof email !== 'string' || email === '' || email.length > 254)
    return { claims, email: null, doubt: 'The provider does not say which e-mail address the account has.' }
  const isTrue = (value: unknown) => value === true || value === 'true' || value === 1 || value === '1'
  const doubt = isMicrosoft
    ? !isTrue(isOwned) &&
      'Microsoft does not say that the domain of this address has been verified: the claim xms_edov is missing or not true.'
    : !isTrue(isVerified) &&
      'The provider does not say that this address has been verified: the claim email_verified is missing or not true.'
  return { claims, email: foldEmail(email), doubt: doubt || null }
}

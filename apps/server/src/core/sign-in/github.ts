import { foldEmail } from '@postern/contract/fields'
import * as oidc from 'openid-client'
import * as z from 'zod/mini'
import type { Fetch } from './bounded-fetch.ts'
import { buildAddress, type Registration } from './openid.ts'
import type { Account, Provider } from './provider.ts'
import { ProviderError, telling } from './provider-error.ts'

/** Its number stays when the account gets another name, which somebody else may then take. */
const User = z.object({ id: z.int(), login: z.string(), name: z.nullish(z.string()) })
/** The most that GitHub returns at once. */
const EMAILS = 'user/emails?per_page=100'
const Emails = z
  .array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))
  .check(z.maxLength(100))

/**
 * GitHub has OAuth 2 but no identities: its token opens its API, which lists the account's addresses.
 * @param web where people sign in; an Enterprise Server has its API below the same host
 */
export function createGitHubProvider(web: string, registration: Registration): Provider {
  const { host } = new URL(web)
  const { configuration, api } = open(web, registration)
  const metadata = configuration.serverMetadata()
  return {
    issuer: metadata.issuer,
    discover: async () => ({
      issuer: metadata.issuer,
      endpoints: [
        { name: 'Authorization', url: `${web}/login/oauth/authorize` },
        { name: 'Token', url: `${web}/login/oauth/access_token` },
        { name: 'E-mail addresses', url: `${api}/user/emails` },
        ...(registration.wants === 'profile' ? [{ name: 'Account', url: `${api}/user` }] : []),
      ],
    }),
    address: (question) => {
      const prompt = question.asksAccount && { prompt: 'select_account' }
      return telling(host, () => buildAddress(configuration, question, { scope: 'user:email', ...prompt }))
    },
    redeem: (answer, question) =>
      telling(host, async () => {
        const { access_token } = await oidc.authorizationCodeGrant(configuration, answer, {
          expectedState: question.state,
          pkceCodeVerifier: question.verifier,
        })
        const { issuer } = metadata
        const account = accountOf(await readEmails(configuration, `${api}/${EMAILS}`, access_token))
        if (registration.wants === 'email') return { ...account, issuer, subject: null }
        // No scope is needed for this one.
        const { id, login, name } = await readUser(configuration, `${api}/user`, access_token)
        const claims = { ...account.claims, id, login, ...(name != null && { name }) }
        return { ...account, claims, issuer, subject: String(id) }
      }),
  }
}

function open(web: string, { clientId, secret, fetch, timeoutSeconds }: Registration) {
  const { host, protocol } = new URL(web)
  const isCloud = host === 'github.com' || host.endsWith('.ghe.com')
  const token = `${web}/login/oauth/access_token`
  const configuration = new oidc.Configuration(
    // The issuer that GitHub sends back.
    {
      issuer: `${web}/login/oauth`,
      authorization_endpoint: `${web}/login/oauth/authorize`,
      token_endpoint: token,
    },
    clientId,
    secret,
  )
  configuration.timeout = timeoutSeconds
  configuration[oidc.customFetch] = withHonestStatus(fetch, token)
  if (protocol === 'http:') oidc.allowInsecureRequests(configuration)
  return { configuration, api: isCloud ? `https://api.${host}` : `${web}/api/v3` }
}

/** When GitHub refuses a code, it answers with status 200 and an error in the body. */
function withHonestStatus(fetch: Fetch, token: string): Fetch {
  return async (url, options) => {
    const answer = await fetch(url, options)
    if (url !== token || answer.status !== 200) return answer
    const body = await answer
      .clone()
      .json()
      .catch(() => null)
    const isRefusal = typeof body === 'object' && body !== null && 'error' in body
    return isRefusal ? new Response(await answer.text(), { status: 400, headers: answer.headers }) : answer
  }
}

type EmailList = z.infer<typeof Emails>

async function readEmails(configuration: oidc.Configuration, url: string, token: string): Promise<EmailList> {
  const emails = Emails.safeParse(await readAt(configuration, url, token))
  if (!emails.success)
    throw new ProviderError('untrusted', `The answer from ${new URL(url).host} is not a list of addresses.`)
  return emails.data
}

async function readUser(configuration: oidc.Configuration, url: string, token: string) {
  const user = User.safeParse(await readAt(configuration, url, token))
  if (!user.success)
    throw new ProviderError('untrusted', `The answer from ${new URL(url).host} is not an account.`)
  return user.data
}

/** @returns null when the answer is no JSON */
async function readAt(configuration: oidc.Configuration, url: string, token: string): Promise<unknown> {
  const { host } = new URL(url)
  const headers = new Headers({ accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' })
  const answer = await oidc.fetchProtectedResource(configuration, token, new URL(url), 'GET', null, headers)
  if (answer.status >= 500)
    throw new ProviderError('unreachable', `${host} failed with status ${answer.status}.`)
  if (answer.status !== 200)
    throw new ProviderError(
      'refused',
      `GitHub does not let Postern read the addresses of the account (status ${answer.status}): register an OAuth app, or give a GitHub App the account permission "Email addresses".`,
    )
  return await answer.json().catch(() => null)
}

/** The account may have others, but GitHub itself uses the primary one. */
function accountOf(emails: EmailList): Pick<Account, 'claims' | 'email' | 'doubt'> {
  const primaries = emails.filter(({ primary }) => primary)
  const [own, ...others] = primaries
  const claims = { ...own, addresses: emails.length }
  if (!own || others.length > 0 || own.email === '' || own.email.length > 254)
    return { claims, email: null, doubt: 'The account has no primary e-mail address at GitHub.' }
  const doubt = own.verified ? null : 'The owner has not confirmed this address at GitHub yet.'
  return { claims, email: foldEmail(own.email), doubt }
}

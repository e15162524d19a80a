import { endpoints } from '@postern/contract/endpoints/endpoints'
import { SIGN_IN } from '@postern/contract/sign-in/sign-in'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { NotFoundError } from '../core/errors.ts'
import type { GuardedDomain } from '../core/sign-in/guarded.ts'
import type { Provider } from '../core/sign-in/provider.ts'
import type { Cookies, Step } from '../core/sign-in/steps.ts'
import { type Notice, renderNotice } from '../http/notice.ts'
import { type Call, route } from '../http/route.ts'

type Query = Partial<Record<'to' | 'account' | 'ticket', string>>
type Handler = (domain: GuardedDomain, cookies: Cookies, query: Query, address: string) => Promise<Step>

/** A question to the person before a step. */
type Question = (request: FastifyRequest, domain: GuardedDomain) => Page | undefined

/** Browsers send whether a page of another origin led here. */
const ELSEWHERE = ['cross-site', 'same-site']

/** The sign-in in front of services: HAProxy routes these addresses here at every domain that has it. */
export function signInRoutes(app: FastifyInstance): void {
  const { flow, trials, providerLogins } = app.context
  const atDomain = (path: string, handle: Handler, question: Question = () => undefined) =>
    app.get(path, async (request, reply) => {
      // For DNS a dot at the end changes nothing; for a browser it is another host, with other cookies.
      const domain = await flow.findDomain(request.hostname.replace(/\.$/, ''))
      const step = domain ? undefined : await flow.leadToConsole(queryOf(request))
      if (step) return answer(reply, step)
      if (!domain) throw new NotFoundError('Page')
      if (domain.domain !== request.hostname)
        return answer(reply, flow.leadToDomain(domain, queryOf(request)))
      const asked = question(request, domain)
      return answer(reply, asked ?? (await handle(domain, cookiesOf(request), queryOf(request), request.ip)))
    })
  atDomain(SIGN_IN.paths.begin, flow.begin)
  atDomain(SIGN_IN.paths.arrive, flow.arrive)
  atDomain(SIGN_IN.paths.renew, flow.renew)
  atDomain(SIGN_IN.paths.signOut, flow.signOut, ({ headers }, { domain }) =>
    ELSEWHERE.includes(String(headers['sec-fetch-site'])) ? { kind: 'ask', domain } : undefined,
  )
  app.get(SIGN_IN.callback, async (request, reply) => {
    const search = request.url.slice(SIGN_IN.callback.length)
    if (await trials.end(search, cookiesOf(request))) return answer(reply, { kind: 'tried' })
    const arrived = await providerLogins.callback(search, request.ip)
    return answer(reply, arrived ?? (await flow.callback(search, request.ip)))
  })
  trialRoutes(app)
}

/** Trying the provider out, from the console. */
function trialRoutes(app: FastifyInstance): void {
  route(app, endpoints.checkProvider, ({ context }) => context.trials.check())
  route(app, endpoints.getTrial, ({ context, caller }) => context.trials.find(caller.sessionId))
  route(app, endpoints.beginTrial, (call) => beginTrial(call))
}

/** @param provider another than that of the settings */
export async function beginTrial(
  {
    context,
    caller,
    request,
    reply,
  }: Pick<Call<typeof endpoints.beginTrial>, 'context' | 'caller' | 'request' | 'reply'>,
  provider?: Provider,
): Promise<{ address: string }> {
  const isBound = request.protocol === 'https'
  const { address, cookie } = await context.trials.begin(caller.sessionId, isBound, provider)
  if (cookie !== null) reply.header('set-cookie', cookie)
  return { address }
}

type Page = Step | { kind: 'tried' } | { kind: 'ask'; domain: string }

function answer(reply: FastifyReply, step: Page): FastifyReply {
  reply.header('cache-control', 'no-store')
  // Not our decision: how long a browser insists on HTTPS at a service's domain.
  reply.removeHeader('strict-transport-security')
  for (const cookie of 'cookies' in step ? step.cookies : []) reply.header('set-cookie', cookie)
  if (step.kind === 'go') return reply.redirect(step.to, 302)
  const { status, ...notice } = noticeOf(step)
  return reply.code(status).type('text/html; charset=utf-8').send(renderNotice(notice))
}

function noticeOf(step: Exclude<Page, { kind: 'go' }>): Notice & { status: number } {
  switch (step.kind) {
    case 'failed': {
      const link = step.again === null ? undefined : { to: step.again, text: 'Try again' }
      return { status: 403, title: step.title, text: [step.message], link }
    }
    case 'tried':
      return {
        status: 200,
        title: 'The test is over',
        text: [
          'The result is in the console. You can close this page: the test has not signed you in anywhere.',
        ],
      }
    case 'ask':
      return {
        status: 200,
        title: 'Sign out?',
        text: [`Another site sent you here. You are still signed in to *${step.domain}*.`],
        link: { to: SIGN_IN.paths.signOut, text: 'Sign out' },
      }
    case 'out':
      return {
        status: 200,
        title: 'You are signed out',
        text: [
          `You are signed out of *${step.domain}*. Your account may still be signed in at its provider.`,
        ],
        link: { to: '/', text: 'Sign in again' },
      }
    case 'refused': {
      const { email, isVerified } = step.identity
      const unsure = 'Its provider does not confirm that this address belongs to you.'
      const unlisted = 'Ask the person who runs the service for access, or use another account.'
      return {
        status: 403,
        title: 'This account has no access',
        text: [`You signed in to *${step.domain}* as *${email}*.`, isVerified ? unlisted : unsure],
        link: { to: step.again, text: 'Use another account' },
      }
    }
  }
}

const MAX_COOKIES = 50

/**
 * Only spaces are before a name, as HAProxy reads it. What else `trim` would cut is part of the name to a browser, which
 * therefore lets a sibling domain set such a cookie.
 */
function cookiesOf({ headers }: FastifyRequest): Cookies {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.replace(/^ +/, ''))
  const own = pairs.filter((pair) => pair.startsWith(SIGN_IN.cookie))
  return new Map(
    own.slice(0, MAX_COOKIES).map((pair): [string, string] => {
      const [name = '', ...value] = pair.split('=')
      return [name, value.join('=')]
    }),
  )
}

/** A parameter that occurs twice, or is no text, counts as missing. */
function queryOf({ query }: FastifyRequest): Query {
  const all = Object.entries(typeof query === 'object' && query !== null ? query : {})
  return Object.fromEntries(all.filter(([, value]) => typeof value === 'string'))
}

import { type Endpoint, pathOf } from '@postern/contract/endpoints/endpoint'
import { server } from '@postern/contract/endpoints/server'
import { TAKE_BACK, TAKE_BACK_HEADER } from '@postern/contract/history/take-back'
import type { Page } from '@postern/contract/lists'
import { SESSION_KEY_HEADER, type Ticket } from '@postern/contract/sign-in/auth'
import type * as z from 'zod/mini'
import { REQUEST_TIMEOUT } from '../util/constants.ts'
import { parseAnswer, readError } from './answers.ts'
import { ApiError } from './api-error.ts'
import type { Answer, CallInput, RawInput, RowOf } from './types.ts'

export interface ApiContext {
  fetch: typeof globalThis.fetch
  token: () => string | null
  /** The second half of the session's credential; null when this browser has none. */
  key: () => string | null
  /** ms since the epoch. */
  now: () => number
  /** The server accepted the token. */
  onAccepted: () => void
  /** The session is over: the server refused its token. */
  onRefused: () => void
  /** The sign-in in front of the console is over: only a page load can begin it again. */
  onSignIn: () => void
  /** The person must give the password once more. @returns whether that was done */
  onConfirm: () => Promise<boolean>
  /** The person must set up a second factor before anything else. */
  onFactorWanted: () => void
  /** A request that the server could not read; `message` is for people. */
  onBadRequest: (message: string) => void
}

export type Api = ReturnType<typeof createApi>

/** All requests to the server. Every function rejects with ApiError. */
export function createApi(context: ApiContext) {
  async function send(endpoint: Endpoint, input: RawInput): Promise<Response> {
    const token = context.token()
    const response = await request(context, urlOf(endpoint, input), {
      method: endpoint.method,
      credentials: 'same-origin',
      headers: headersFor(context, token, input),
      body: input.body === undefined ? null : JSON.stringify(input.body),
      signal: input.signal ?? null,
    })
    if (response.ok) {
      if (endpoint.auth !== 'none') context.onAccepted()
      return response
    }
    const error = await readError(response)
    if (error.status === 400) context.onBadRequest(error.message)
    if (error.code === 'sign_in') context.onSignIn()
    else if (error.code === 'second_factor') context.onFactorWanted()
    else if (endpoint.auth !== 'none' && isSessionOver(error, token)) context.onRefused()
    throw error
  }

  /** Once more after the password, where that is what the server asks for. */
  async function sendConfirmed(endpoint: Endpoint, input: RawInput): Promise<Response> {
    try {
      return await send(endpoint, input)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'confirm' || !(await context.onConfirm()))
        throw error
      return await send(endpoint, input)
    }
  }

  /** Calls an endpoint; resolves with the contract's answer. */
  async function call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Answer<E>> {
    // CallInput is RawInput narrowed by the endpoint.
    const response = await sendConfirmed(endpoint, input as RawInput)
    if (!endpoint.answer) return undefined as Answer<E>
    // The endpoint's own answer schema, whose type the generic cannot follow.
    return parseAnswer(endpoint.answer as z.ZodMiniType<Answer<E>>, response)
  }

  /** One page of a list endpoint; the query carries `limit`. */
  async function listPage<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Page<RowOf<E>>> {
    const answer: unknown = await call(endpoint, input)
    if (Array.isArray(answer)) return { data: answer, page: 1, limit: answer.length, total: answer.length }
    // Checked against the list's schema, which is a page or an array.
    return answer as Page<RowOf<E>>
  }

  /** All rows of a list endpoint; the query has no `limit`. */
  async function listAll<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<RowOf<E>[]> {
    return (await listPage(endpoint, input)).data
  }

  /** A file, with the name that the server gave it. */
  async function download<E extends Endpoint>(endpoint: E, input: CallInput<E>, fallback: string) {
    const response = await send(endpoint, input as RawInput)
    return {
      name: fileName(response.headers.get('content-disposition'), fallback),
      blob: await response.blob(),
    }
  }

  const tickets = createTicketCache(() => call(server.ticket, {}), context)

  /**
   * The address of a stream. Addresses end up in logs, so it has a ticket that is valid for a minute, not the token.
   * @param isRefused whether the current ticket was refused, so that a new one is needed
   */
  async function streamUrl<E extends Endpoint>(
    endpoint: E,
    query: Record<string, string | number | undefined>,
    isRefused: boolean,
  ): Promise<string> {
    return urlOf(endpoint, { query: { ...query, token: await tickets.get(isRefused) } })
  }

  /** A stream was refused. */
  const onRefused = ({ code }: ApiError) =>
    code === 'second_factor' ? context.onFactorWanted() : context.onRefused()

  return { call, listPage, listAll, download, streamUrl, onRefused }
}

/** A refusal because of the role does not end the session. */
function isSessionOver({ status, code }: ApiError, token: string | null): boolean {
  // An expired token is gone from the cookies; the page that is still open must go, too.
  return token === null ? status === 401 : [401, 403, 429].includes(status) && !STAYS.has(code)
}

/** The person may do something else, or has only to confirm. */
const STAYS: ReadonlySet<string | undefined> = new Set(['role', 'confirm', 'sign_in_again'])

function urlOf(endpoint: Endpoint, input: RawInput): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(input.query ?? {}))
    if (value !== undefined && value !== '') query.set(key, String(value))
  const path = pathOf(endpoint, input.params)
  return query.size > 0 ? `${path}?${query}` : path
}

function headersFor(
  { key }: ApiContext,
  token: string | null,
  { body, takeBack }: RawInput,
): Record<string, string> {
  const half = key()
  return {
    accept: 'application/json',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(half === null ? {} : { [SESSION_KEY_HEADER]: half }),
    ...(body !== undefined ? { 'content-type': 'application/json' } : {}),
    ...(takeBack ? { [TAKE_BACK_HEADER]: String(TAKE_BACK.usual) } : {}),
  }
}

async function request(context: ApiContext, url: string, init: RequestInit): Promise<Response> {
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT)
  const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout
  try {
    return await context.fetch(url, { ...init, signal })
  } catch (cause) {
    if (init.signal?.aborted) throw cause
    const reason = timeout.aborted
      ? `The server did not answer within ${REQUEST_TIMEOUT / 1000} seconds.`
      : 'The server could not be reached.'
    throw new ApiError(`${reason} Published services usually keep running.`, {
      status: 0,
      code: 'network',
      cause,
    })
  }
}

function fileName(disposition: string | null, fallback: string): string {
  const match = disposition?.match(/filename=(?:"([^"/\\]+)"|([^"\s;/\\]+)(?:;|$))/)
  return match?.[1] ?? match?.[2] ?? fallback
}

/** A ticket with less than this left, in ms, is no longer used: requests take time to arrive. */
const MARGIN = 10_000

/** Keeps the current ticket, which all streams share until it expires. */
export interface TicketCache {
  /** @param isRefused whether the cached one was refused. Rejects with what `fetchTicket` rejects with. */
  get(isRefused: boolean): Promise<string>
}

interface TicketContext {
  token: () => string | null
  now: () => number
}

export function createTicketCache(
  fetchTicket: () => Promise<Ticket>,
  { token, now }: TicketContext,
): TicketCache {
  let current: { token: string | null; until: number; ticket: Promise<string> } | undefined
  const renew = () => {
    const next = {
      token: token(),
      // Until the answer comes, every stream waits for this one.
      until: Number.POSITIVE_INFINITY,
      ticket: fetchTicket().then(
        ({ ticket, expires_in }) => {
          next.until = now() + expires_in * 1000 - MARGIN
          return ticket
        },
        (error: unknown) => {
          next.until = 0
          throw error
        },
      ),
    }
    current = next
    return next.ticket
  }
  return {
    get(isRefused) {
      const isGood = current !== undefined && current.token === token() && now() < current.until && !isRefused
      return isGood && current ? current.ticket : renew()
    },
  }
}

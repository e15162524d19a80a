import type { KeyObject } from 'node:crypto'
import * as z from 'zod/mini'
import { AcmeError, ProblemDocument, readProblem, readRetryAfter } from './errors.ts'
import type { AcmeAnswer, AcmeHttp } from './http.ts'
import { bindAccount, jwkOf, signJws, thumbprintOf } from './jws.ts'
import { Account, Authorization, Directory, Order, RenewalInfo } from './objects.ts'

/** One of the authority's objects, and how long it asks us to wait before the next poll, in ms. */
export interface Looked<T> {
  value: T
  retryAfter: number | undefined
}

export interface Binding {
  kid: string
  secret: string
}

export interface AccountForm {
  email: string | null
  binding: Binding | null
}

/** A window in which the authority wants a certificate to be renewed, in ms since the epoch. */
export interface RenewalWindow {
  start: number
  end: number
}

/** Talks to one authority as one account (RFC 8555). Every call throws AcmeError. */
export interface AcmeClient {
  /** The thumbprint of the account's key. */
  thumbprint(): Promise<string>
  directory(): Promise<Directory>
  /**
   * Creates the account, or finds the existing one of this key.
   * @returns its address
   */
  register(form: AccountForm): Promise<string>
  updateContact(account: string, email: string | null): Promise<void>
  placeOrder(account: string, order: object): Promise<{ url: string; order: Order }>
  readOrder(account: string, url: string): Promise<Looked<Order>>
  readAuthorization(account: string, url: string): Promise<Looked<Authorization>>
  /** Asks the authority to check the answer now. */
  startChallenge(account: string, url: string): Promise<void>
  /** Tells the authority that we give this up. */
  deactivate(account: string, authorization: string): Promise<void>
  finalize(account: string, url: string, csr: string): Promise<void>
  /** PEM, the leaf first. */
  downloadChain(account: string, url: string): Promise<string>
  /** @param id see `renewalId`; undefined when the authority does not offer it */
  readRenewalInfo(id: string): Promise<Looked<RenewalWindow> | undefined>
}

interface Parts {
  http: AcmeHttp
  /** The address of the authority's directory. */
  directory: string
  /** The account's P-256 key. */
  key: KeyObject
  clock(): number
}

const MAX_BAD_NONCES = 8
/** Because an authority may change its directory. */
const DIRECTORY_AGE = 3_600_000
const KEPT_NONCES = 40

export function createAcmeClient({ http, directory: address, key, clock }: Parts): AcmeClient {
  const nonces: string[] = []
  let known: { directory: Directory; at: number } | undefined

  async function directory(): Promise<Directory> {
    if (known && clock() - known.at < DIRECTORY_AGE) return known.directory
    const answer = accept(await http.send(address, { method: 'GET' }), clock())
    known = { directory: parse(Directory, answer), at: clock() }
    return known.directory
  }

  async function takeNonce(): Promise<string> {
    const kept = nonces.pop()
    if (kept !== undefined) return kept
    const answer = accept(await http.send((await directory()).newNonce, { method: 'HEAD' }), clock())
    const nonce = nonceOf(answer)
    if (nonce === undefined) throw garbage('It gave no nonce', answer)
    return nonce
  }

  /** @param account null: identified by the key itself */
  async function post(
    url: string,
    account: string | null,
    payload?: unknown,
    type?: string,
  ): Promise<AcmeAnswer> {
    for (let tries = 1; ; tries++) {
      const who = account === null ? { jwk: jwkOf(key) } : { kid: account }
      const body = await signJws(key, { ...who, nonce: await takeNonce(), url }, payload)
      const answer = await http.send(url, { method: 'POST', body, ...(type && { accept: type }) })
      const nonce = nonceOf(answer)
      if (nonce !== undefined && nonces.length < KEPT_NONCES) nonces.push(nonce)
      try {
        return accept(answer, clock())
      } catch (error) {
        const isStale = error instanceof AcmeError && error.type === 'badNonce'
        if (!isStale || tries === MAX_BAD_NONCES) throw error
      }
    }
  }

  const look = async <T>(schema: z.ZodMiniType<T>, account: string, url: string): Promise<Looked<T>> =>
    looked(schema, await post(url, account))
  const looked = <T>(schema: z.ZodMiniType<T>, answer: AcmeAnswer): Looked<T> => ({
    value: parse(schema, answer),
    retryAfter: readRetryAfter(answer.headers['retry-after'], clock()),
  })

  return {
    thumbprint: () => thumbprintOf(key),
    directory,
    async register({ email, binding }) {
      const { newAccount } = await directory()
      const answer = await post(newAccount, null, {
        termsOfServiceAgreed: true,
        contact: contactsOf(email),
        ...(binding && { externalAccountBinding: await bindAccount(key, newAccount, binding) }),
      })
      parse(Account, answer)
      return locationOf(answer)
    },
    async updateContact(account, email) {
      await post(account, account, { contact: contactsOf(email) })
    },
    async placeOrder(account, order) {
      const answer = await post((await directory()).newOrder, account, order)
      return { url: locationOf(answer), order: parse(Order, answer) }
    },
    readOrder: (account, url) => look(Order, account, url),
    readAuthorization: (account, url) => look(Authorization, account, url),
    async startChallenge(account, url) {
      await post(url, account, {})
    },
    async deactivate(account, authorization) {
      await post(authorization, account, { status: 'deactivated' })
    },
    async finalize(account, url, csr) {
      await post(url, account, { csr })
    },
    async downloadChain(account, url) {
      return (await post(url, account, undefined, 'application/pem-certificate-chain')).text
    },
    async readRenewalInfo(id) {
      const { renewalInfo } = await directory()
      if (renewalInfo === undefined) return undefined
      const answer = accept(await http.send(`${renewalInfo}/${id}`, { method: 'GET' }), clock())
      const { value, retryAfter } = looked(RenewalInfo, answer)
      const [start, end] = [Date.parse(value.suggestedWindow.start), Date.parse(value.suggestedWindow.end)]
      if (!(start <= end)) throw garbage('Its window for a renewal is none', answer)
      return { value: { start, end }, retryAfter }
    },
  }
}

const contactsOf = (email: string | null) => (email === null ? [] : [`mailto:${email}`])

/** Statuses of a server in front of an authority, without the authority's own words. */
const BUSY: Readonly<Record<number, string>> = {
  429: 'The certificate authority takes no more requests for now',
  503: 'The certificate authority is not available for now',
}

/** @throws AcmeError for everything except success */
function accept(answer: AcmeAnswer, now: number): AcmeAnswer {
  const { status, headers } = answer
  if (status >= 200 && status < 300) return answer
  const retryAfter = readRetryAfter(headers['retry-after'], now)
  const document = z.safeParse(ProblemDocument, parseJson(answer.text)).data
  if (document?.type === undefined) {
    const detail = BUSY[status]
    if (detail) throw new AcmeError({ type: 'other', detail, status, retryAfter })
    throw garbage(`It answered with status ${status}`, answer, retryAfter)
  }
  throw new AcmeError({ ...readProblem(document), status, retryAfter })
}

function parse<T>(schema: z.ZodMiniType<T>, answer: AcmeAnswer): T {
  const result = schema.safeParse(parseJson(answer.text))
  if (!result.success) throw garbage('Its answer cannot be understood', answer)
  return result.data
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The schema refuses it, like anything else outside the protocol.
    return undefined
  }
}

function garbage(words: string, { status }: AcmeAnswer, retryAfter?: number): AcmeError {
  return new AcmeError({
    type: 'garbage',
    detail: `${words}. Is it a certificate authority?`,
    status,
    retryAfter,
  })
}

function nonceOf({ headers }: AcmeAnswer): string | undefined {
  const nonce = headers['replay-nonce']
  return typeof nonce === 'string' && /^[A-Za-z0-9_-]{1,256}$/.test(nonce) ? nonce : undefined
}

function locationOf(answer: AcmeAnswer): string {
  const { location } = answer.headers
  if (location === undefined || !/^https:\/\/\S{1,2040}$/.test(location))
    throw garbage('It named no address', answer)
  return location
}

import { partialDeepStrictEqual } from 'node:assert'
import { X509Certificate } from 'node:crypto'
import type { Certificate } from '@postern/contract/certificates'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { LookupError } from '../../../../apps/server/src/core/domains/resolver.ts'
import type { OrderRow } from '../../../../apps/server/src/db/schema.ts'
import { fetchState } from '../edge-client.ts'
import { type NameServer, startNameServer } from '../fakes/name-server.ts'
import { type Client, startTestServer, type TestServer, type TestServerOptions } from '../server.ts'
import { until } from '../until.ts'
import { type AnsweringEdge, answerChallenges, findChallengePort } from './answering-edge.ts'
import { type Front, startFront } from './front.ts'
import { type Pebble, startPebble } from './pebble.ts'

/** An address of this machine where nobody listens. */
export const NOWHERE = '127.0.0.2'
/** A certificate of the authority is in use, and nothing is on order. */
export const VALID = { status: 'valid', kind: 'certbot', step: null, problem: null } as const

/** One for all tests of a file, reset for each. */
export function useOrderDesk(): OrderDesk {
  const desk = new OrderDesk()
  beforeAll(() => desk.open())
  afterAll(() => desk.close())
  beforeEach(() => desk.begin())
  afterEach(() => desk.end())
  return desk
}

/** A server that orders certificates, with everything it needs: pebble behind a front, an edge, names, a clock. */
export class OrderDesk {
  names!: NameServer
  pebble!: Pebble
  /** Where the authority looks for the answers. */
  httpPort!: number
  /** The answers of our own name server; at the authority's, all names lead to this machine. */
  readonly dns = new Map<string, string[] | LookupError>()
  /** How far the server's clock is ahead, in ms. */
  ahead = 0
  front!: Front
  server!: TestServer
  client!: Client
  edge!: AnsweringEdge
  #isStopped = true

  async open(): Promise<void> {
    this.names = await startNameServer()
    this.httpPort = await findChallengePort()
    const { httpPort, names } = this
    this.pebble = await startPebble({ httpPort, nameServer: names.address, badNonces: 20 })
  }

  async close(): Promise<void> {
    await this.pebble.close()
    this.names.close()
  }

  /** For each test. */
  async begin(): Promise<void> {
    this.front = await startFront(this.pebble)
    await this.start()
  }

  async end(): Promise<void> {
    await this.stop()
    await this.front.close()
    this.ahead = 0
    this.dns.clear()
    this.names.answers.clear()
  }

  async start(options: TestServerOptions = {}): Promise<void> {
    const resolver = {
      resolve: async (name: string) => {
        const found = this.dns.get(name) ?? ['203.0.113.1']
        if (found instanceof LookupError) throw found
        return found
      },
    }
    const { directory } = this.front
    this.server = await startTestServer({
      ...options,
      settings: {
        POSTERN_ACME_DIRECTORY: directory,
        POSTERN_ACME_CA_FILE: this.pebble.caFile,
        ...options.settings,
      },
      world: { resolver, clock: () => Date.now() + this.ahead, ...options.world },
    })
    this.client = await this.server.signIn()
    this.edge = await answerChallenges(this.server, this.httpPort)
    this.#isStopped = false
  }

  async stop(options: { keepData?: boolean } = {}): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    await this.edge.close()
    await this.server.close(options)
  }

  /** The next one on the same data, with other settings. */
  async restart(settings: Record<string, string> = {}): Promise<void> {
    const { dataDir } = this.server
    await this.stop({ keepData: true })
    await this.start({ dataDir, settings })
  }

  /** Moves the clock, which ends every session. */
  async setAhead(ms: number): Promise<void> {
    this.ahead = ms
    this.client = await this.server.signIn()
    this.poke()
  }

  /** The authority is down until the returned call. */
  async takeDown(): Promise<() => Promise<void>> {
    const { port } = this.front
    await this.front.close()
    return async () => {
      this.front = await startFront(this.pebble, port)
    }
  }

  /** Makes the engine check its rows again. */
  poke(): void {
    this.server.context.bus.emit({ kind: 'changed', revision: 0, touched: { domains: [1] } })
  }

  /** @returns its id */
  async create(domain: string): Promise<number> {
    if (!this.names.answers.has(domain)) this.names.answers.set(domain, ['127.0.0.1'])
    const answer = await this.client.post('/api/domains', { domain, ssl: 'certbot' })
    if (answer.statusCode !== 201) throw new Error(`${domain} was refused: ${answer.body}`)
    return answer.json().id
  }

  async read(id: number): Promise<Certificate> {
    return (await this.client.get(`/api/domains/${id}`)).json().certificate
  }

  async whenIs(id: number, what: object): Promise<Certificate> {
    return await until(`the certificate to be ${JSON.stringify(what)}`, async () => {
      const certificate = await this.read(id)
      partialDeepStrictEqual(certificate, what)
      return certificate
    })
  }

  /** The certificate that visitors are shown. */
  async shown(domain: string): Promise<X509Certificate> {
    const { sections } = await fetchState(this.server)
    return new X509Certificate(
      sections.certificates.find(({ domains }) => domains.includes(domain))?.chain ?? '',
    )
  }

  async orders(): Promise<OrderRow[]> {
    return await this.server.context.db.selectFrom('orders').selectAll().orderBy('id').execute()
  }

  /** How many orders the authority got, and how many it accepted. */
  placed(): { asked: number; taken: number } {
    const { asked, answered } = this.front
    const count = (lines: string[], line: string) => lines.filter((each) => each === line).length
    // A request that was refused for its nonce was repeated.
    const stale = count(answered, `${NEW_ORDER} 400`)
    return { asked: count(asked, NEW_ORDER) - stale, taken: count(answered, `${NEW_ORDER} 201`) }
  }
}

const NEW_ORDER = 'POST /order-plz'

/** A problem document, as authorities send it. */
export const problemOf = (type: string, detail: string, more: object = {}) => ({
  type: `urn:ietf:params:acme:error:${type}`,
  detail,
  ...more,
})

/** Reads a time in an answer; NaN when there is none. */
export const msOf = (time: string | null | undefined): number => Date.parse(time ?? '')

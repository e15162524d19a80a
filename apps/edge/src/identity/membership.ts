import { X509Certificate } from 'node:crypto'
import type { TunnelSettings } from '@postern/contract/edge/desired-state'
import { CertificateAnswer } from '@postern/contract/edge/join'
import { createSingleFlight } from '@postern/host/tasks'
import type { Logger } from 'pino'
import { createCsr } from './csr.ts'
import type { IdentityStore, KnownInstallation } from './identity.ts'

type Said = Pick<TunnelSettings, 'publicHost' | 'servers'>

interface Options {
  identity: IdentityStore
  /** Asks the server for a certificate. @throws when it gives none */
  fetchCertificate(csr: string): Promise<unknown>
  /** ms since the epoch. */
  now: () => number
  log: Logger
}

/** Keeps an edge elsewhere a member of its installation. */
export interface Membership {
  start(): void
  /** Keeps where the servers are and which host the installation has moved to, as an accepted state says it. */
  note(settings: Said): void
  /** Renews the certificate, with the same key, when two thirds of its life are over. */
  look(): Promise<void>
  /** Resolves when nothing is being written. */
  close(): Promise<void>
}

const LOOK_EVERY = 3_600_000
/** A machine whose clock is not set yet knows better after a while. */
const FIRST_LOOK = 60_000

export function createMembership({ identity, fetchCertificate, now, log }: Options): Membership {
  let timer: NodeJS.Timeout | undefined
  let said: Said | undefined
  const keeping = createSingleFlight(async () => {
    const { known } = identity.current()
    const next = said && follow(known, said)
    if (!next || JSON.stringify(next) === JSON.stringify(known)) return
    await identity
      .keepKnown(next)
      .catch((err: unknown) => log.error({ err }, 'where the servers are cannot be kept'))
  })

  async function renew(): Promise<void> {
    const { key, certificate, root } = identity.current()
    if (!isDue(certificate, now())) return
    const answer = CertificateAnswer.parse(await fetchCertificate(createCsr(key)))
    if (answer.root.trim() !== root.trim()) throw new Error('The server answered with another authority')
    await identity.keepCertificate(answer.certificate)
    log.info("the edge's certificate is renewed")
  }
  async function look(): Promise<void> {
    await renew().catch((err: unknown) => log.warn({ err }, "the edge's certificate cannot be renewed yet"))
  }
  const lookAfter = (wait: number) => {
    timer = setTimeout(() => void look().then(() => lookAfter(LOOK_EVERY)), wait).unref()
  }
  return {
    start: () => lookAfter(FIRST_LOOK),
    note(settings) {
      said = settings
      keeping.trigger()
    },
    look,
    async close() {
      clearTimeout(timer)
      keeping.close()
      await keeping.idle()
    },
  }
}

/** A server that names none, being older, changes nothing. */
function follow(known: KnownInstallation, { publicHost, servers = [] }: Said): KnownInstallation {
  return { ...known, publicHost, servers: servers.length > 0 ? servers : known.servers }
}

function isDue(certificate: string, now: number): boolean {
  const { validFromDate, validToDate } = new X509Certificate(certificate)
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  return now >= from + ((to - from) * 2) / 3
}

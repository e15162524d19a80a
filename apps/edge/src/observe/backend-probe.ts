import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Backend } from '@postern/contract/edge/desired-state'
import type { BackendTrouble } from '@postern/contract/edge/edge'

/** The problems that a probe can find. */
export type ProbedTrouble = Exclude<BackendTrouble, 'unchecked'>

export interface ProbeTarget {
  /** An IP literal. */
  address: string
  port: number
  /** `tcp`: its protocol is unknown. */
  proto: Backend['proto'] | 'tcp'
  /** The server name for TLS; null: none. */
  domain: string | null
}

/** As long as HAProxy's connect timeout. */
const TIMEOUT = 5000

/**
 * Checks whether a backend accepts connections, and speaks TLS if it should; it never sends a request. A backend that
 * should speak TLS gets a whole handshake, because many programs log each broken one.
 * @param isOdd it accepted connections lately but did not answer in HTTP: it may speak TLS where it should not
 * @returns the problem, or null
 */
export async function probeBackend(target: ProbeTarget, isOdd: boolean): Promise<ProbedTrouble | null> {
  if (target.proto === 'https') {
    const answer = await tryTls(target)
    if (answer === 'tls') return null
    if (answer === 'other') return 'no-tls'
    return answer === 'failed tls' || answer === 'nothing' ? 'tls' : answer
  }
  const trouble = await tryTcp(target)
  if (trouble !== null || target.proto === 'tcp' || !isOdd) return trouble
  const answer = await tryTls(target)
  return answer === 'tls' || answer === 'failed tls' ? 'only-tls' : null
}

function tryTcp({ address, port }: ProbeTarget): Promise<Unreached | null> {
  const socket = connect({ host: address, port })
  return settle<Unreached | null>(socket, 'connect', null, () => 'timeout', whyUnreached)
}

/** Why there is no connection. */
type Unreached = 'refused' | 'timeout' | 'unreachable'

function whyUnreached({ code }: NodeJS.ErrnoException): Unreached {
  return code === 'ECONNREFUSED' ? 'refused' : 'unreachable'
}

/** OpenSSL's codes for an answer that is no TLS record. */
const NO_RECORD = /WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST/

/** The answer to a TLS hello: TLS, a failed handshake, something else, or nothing; or no connection at all. */
type TlsAnswer = 'tls' | 'failed tls' | 'other' | 'nothing' | Unreached

function tryTls({ address, port, domain }: ProbeTarget): Promise<TlsAnswer> {
  // TLS has no addresses for names.
  const name = domain === null || isIP(domain) !== 0 ? {} : { servername: domain }
  let isConnected = false
  // This only tests whether it speaks TLS, and sends no data; HAProxy decides whom to trust.
  const socket = connectTls({ host: address, port, rejectUnauthorized: false, ...name })
  socket.once('connect', () => {
    isConnected = true
  })
  const onTimeout = () => (isConnected ? 'nothing' : 'timeout')
  return settle<TlsAnswer>(socket, 'secureConnect', 'tls', onTimeout, (error) => {
    if (!isConnected) return whyUnreached(error)
    if (!error.code?.startsWith('ERR_SSL')) return 'nothing'
    return NO_RECORD.test(error.code) ? 'other' : 'failed tls'
  })
}

/** Interprets the first event of a connection, and closes it at once. */
function settle<T>(
  socket: Socket,
  event: string,
  success: T,
  timeout: () => T,
  failure: (error: NodeJS.ErrnoException) => T,
): Promise<T> {
  return new Promise((resolve) => {
    const end = (result: T) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(result)
    }
    // For the whole probe: a backend that sends a byte now and then is not silent.
    const timer = setTimeout(() => end(timeout()), TIMEOUT)
    socket.once(event, () => {
      // Not before TLS has sent its last record, or the backend would see an error.
      socket.destroySoon()
      resolve(success)
    })
    // Stays, because an abandoned socket must not throw its errors.
    socket.on('error', (error) => end(failure(error)))
    socket.once('close', () => end(failure(new Error('closed'))))
  })
}

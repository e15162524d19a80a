import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Backend } from '@postern/contract/desired-state'
import type { BackendTrouble } from '@postern/contract/edge'

/** What a probe can find wrong. */
export type ProbedTrouble = Exclude<BackendTrouble, 'unchecked'>

export interface ProbeTarget {
  /** An IP literal. */
  address: string
  port: number
  /** `tcp`: what it speaks is not known. */
  proto: Backend['proto'] | 'tcp'
  /** The name that TLS asks for; null: none. */
  domain: string | null
}

/** As long as HAProxy waits for a connection. */
const TIMEOUT = 5000

/**
 * Looks whether a backend takes connections, and speaks TLS if it should; nothing is ever asked of it. A backend that
 * should speak TLS gets one whole handshake, as many programs log each that breaks off.
 * @param isOdd it took connections of late but gave no HTTP: it may speak TLS where it should not.
 * @returns what is wrong, null when nothing is
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

/** What OpenSSL calls an answer that is no record of TLS. */
const NO_RECORD = /WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST/

/** What a TLS hello gets: TLS, TLS that does not come about, something else, or nothing; or no connection at all. */
type TlsAnswer = 'tls' | 'failed tls' | 'other' | 'nothing' | Unreached

function tryTls({ address, port, domain }: ProbeTarget): Promise<TlsAnswer> {
  const name = domain === null ? {} : { servername: domain }
  let isConnected = false
  // Only whether it speaks TLS is asked here; whom to trust is HAProxy's matter, and nothing is sent.
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

/** What the first thing means that happens to a connection; it is closed at once. */
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
    // In all: whoever sends a byte now and then is not silent.
    const timer = setTimeout(() => end(timeout()), TIMEOUT)
    socket.once(event, () => {
      // Not before the last words of TLS are sent, or the backend takes it for an error.
      socket.destroySoon()
      resolve(success)
    })
    // Errors of a socket that is given up go nowhere, so this stays.
    socket.on('error', (error) => end(failure(error)))
    socket.once('close', () => end(failure(new Error('closed'))))
  })
}

import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Backend } from '@postern/contract/desired-state'
import type { BackendTrouble } from '@postern/contract/edge'

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
 * Looks whether a backend takes connections, and speaks TLS if it should; nothing is ever asked of it.
 * @param isOdd it took connections of late but gave no HTTP: it may speak TLS where it should not.
 * @returns what is wrong, null when nothing is
 */
export async function probeBackend(target: ProbeTarget, isOdd: boolean): Promise<BackendTrouble | null> {
  const trouble = await tryTcp(target)
  if (trouble !== null || target.proto === 'tcp' || (target.proto === 'http' && !isOdd)) return trouble
  const answer = await tryTls(target)
  if (target.proto === 'http') return answer === 'tls' || answer === 'failed tls' ? 'only-tls' : null
  if (answer === 'tls') return null
  return answer === 'other' ? 'no-tls' : 'tls'
}

function tryTcp({ address, port }: ProbeTarget): Promise<BackendTrouble | null> {
  const socket = connect({ host: address, port })
  return settle<BackendTrouble | null>(socket, 'connect', null, 'timeout', ({ code }) =>
    code === 'ECONNREFUSED' ? 'refused' : 'unreachable',
  )
}

/** What OpenSSL calls an answer that is no record of TLS. */
const NO_RECORD = /WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST/

/** What a TLS hello gets: TLS, TLS that does not come about, something else, or nothing. */
type TlsAnswer = 'tls' | 'failed tls' | 'other' | 'nothing'

function tryTls({ address, port, domain }: ProbeTarget): Promise<TlsAnswer> {
  const name = domain === null ? {} : { servername: domain }
  // Only whether it speaks TLS is asked here; whom to trust is HAProxy's matter, and nothing is sent.
  const socket = connectTls({ host: address, port, rejectUnauthorized: false, ...name })
  return settle<TlsAnswer>(socket, 'secureConnect', 'tls', 'nothing', ({ code }) => {
    if (!code?.startsWith('ERR_SSL')) return 'nothing'
    return NO_RECORD.test(code) ? 'other' : 'failed tls'
  })
}

/** What the first thing means that happens to a connection; it is closed at once. */
function settle<T>(
  socket: Socket,
  event: string,
  success: T,
  timeout: T,
  failure: (error: NodeJS.ErrnoException) => T,
): Promise<T> {
  return new Promise((resolve) => {
    const end = (result: T) => {
      socket.destroy()
      resolve(result)
    }
    socket.setTimeout(TIMEOUT, () => end(timeout))
    socket.once(event, () => end(success))
    // Errors of a socket that is given up go nowhere, so this stays.
    socket.on('error', (error) => end(failure(error)))
    socket.once('close', () => end(failure(new Error('closed'))))
  })
}

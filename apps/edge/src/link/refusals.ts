import { codeOf, messageOf } from '@postern/host/errors'
import { findDistrust } from '@postern/host/trust'
import { ServerSocketError } from './server-token.ts'

/** As the library for WebSockets says it. */
const REFUSED = /^Unexpected server response: (401|403)$/
const OTHER_PROTOCOL = /alert protocol version|unsupported protocol|wrong version number/

/** This edge can prove itself no more; `message` says what to do. */
export class ExpiredError extends Error {
  readonly code = 'expired'
  constructor(end: Date) {
    super(
      `the certificate of this edge has expired on ${end.toISOString()}, because it was away for too long. Run postern-edge leave, and join again with a new token of the console.`,
    )
  }
}

/** The server has said why it does not speak with this edge. */
export class RefusedError extends Error {
  readonly code = 'refused'
}

/** Why edge and server do not speak with each other, in words, when waiting does not help; undefined: it may. */
export function findRefusal(error: unknown): string | undefined {
  if ([ServerSocketError, ExpiredError, RefusedError].some((kind) => error instanceof kind))
    return messageOf(error)
  const code = codeOf(error)
  const message = messageOf(error)
  if (REFUSED.test(message))
    return 'it does not know this edge. The edge was removed from the console, or another machine has joined in its place.'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'INVALID_PURPOSE')
    return "what answers at its address shows a certificate that is not a server's."
  if (OTHER_PROTOCOL.test(message)) return 'what answers at its address does not speak TLS 1.3.'
  return findDistrust('the server', error, 'It is not the one that this edge joined.')
}

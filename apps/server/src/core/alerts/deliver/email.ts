import type { AlertMessage } from '@postern/contract/alerts/alerts'
import { codeOf } from '@postern/host/errors'
import { findIp } from '@postern/net/ip'
import { createTransport } from 'nodemailer'
import type { Context } from '../../../context.ts'
import type { OpenChannel } from '../channel-secrets.ts'
import { DeliveryError } from './delivery-error.ts'
import { findAddress } from './dial.ts'
import { explainFailure } from './post.ts'
import { cut } from './words.ts'

const STEP_MS = 10_000
/** Of the whole conversation. */
const WHOLE_MS = 30_000

type Parts = Pick<Context, 'config' | 'network' | 'tunnel' | 'outside'>

/** The text ends with the address. */
type MailText = Pick<AlertMessage, 'title' | 'text' | 'url'>

/** @param id the same at each try. @throws DeliveryError */
export async function sendMail(
  parts: Parts,
  channel: OpenChannel,
  message: MailText,
  id: string,
): Promise<void> {
  const host = channel.host ?? ''
  const port = channel.port ?? 0
  const { inPrivateNetwork } = channel
  const isPlain = channel.security === 'none'
  const address = await findAddress(parts, { host, port, inPrivateNetwork, isPlain, isMail: true })
  const transport = createTransport(optionsOf(parts, channel, address))
  const late = AbortSignal.timeout(WHOLE_MS)
  const tooLate = new Promise<never>((_resolve, reject) => {
    late.addEventListener('abort', () => reject(new DeliveryError(`${host} did not finish in time.`)))
  })
  try {
    await Promise.race([transport.sendMail(mailOf(parts, channel, message, id)), tooLate])
  } catch (error) {
    if (error instanceof DeliveryError) throw error
    throw new DeliveryError(explain(host, error), { cause: error, isFinal: isFinal(error) })
  } finally {
    transport.close()
  }
}

function optionsOf({ outside, config }: Parts, channel: OpenChannel, address: string) {
  const { security, username, secrets } = channel
  const host = channel.host ?? ''
  return {
    host: address,
    port: channel.port ?? 0,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    // Of the certificate: the address was looked up already.
    ...(!findIp(host) && { servername: host }),
    tls: { minVersion: 'TLSv1.2' as const, ...(outside.ca !== undefined && { ca: outside.ca }) },
    ...(username !== null && { auth: { user: username, pass: secrets.password ?? '' } }),
    name: findIp(config.publicHost) ? `[${config.publicHost}]` : config.publicHost,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    maxResponseSize: 65_536,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Plain text, so that no name in it is markup. */
function mailOf({ config }: Parts, channel: OpenChannel, message: MailText, id: string) {
  const domain = channel.sender?.split('@')[1] ?? config.publicHost
  return {
    from: { name: 'Postern', address: channel.sender ?? '' },
    to: [...channel.recipients],
    subject: cut(message.title.replace(/[\r\n]+/g, ' '), 200),
    text: `${message.text}\n\n${message.url}\n`,
    messageId: `<${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

/** Refused for good (RFC 5321, 4.2.1), and not because of the account or the addresses. */
function isFinal(error: unknown): boolean {
  const reply = replyOf(error)
  return reply >= 500 && reply < 600 && !['EAUTH', 'EENVELOPE'].includes(codeOf(error) ?? '')
}

/** The number with which the mail server answered; 0 where it did not. */
function replyOf(error: unknown): number {
  return error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0
}

/** The server's own words stay out: they may hold anything. */
function explain(host: string, error: unknown): string {
  const code = codeOf(error)
  const reply = replyOf(error)
  const number = reply > 0 ? ` (${reply})` : ''
  if (code === 'EAUTH') return `${host} refused the user name or the password${number}.`
  if (code === 'EENVELOPE') return `${host} refused the sender or a recipient${number}.`
  if (code === 'ETLS') return `${host} offers no TLS on this port. Choose another security or port.`
  if (code === 'EMESSAGE') return `${host} refused the message${number}.`
  if (reply > 0) return `${host} refused to send${number}.`
  // What the system said, where the library has a code of its own for it.
  const original = error instanceof Error && 'originalCode' in error ? String(error.originalCode) : code
  return explainFailure(host, original)
}

import type { InvitedPerson } from '@postern/contract/people/people'
import type { Actor } from '../../changes/actor.ts'
import { publicUrl } from '../../config.ts'
import type { Context } from '../../context.ts'
import { findMailChannel } from '../alerts/channels.ts'
import { sendMail } from '../alerts/deliver/email.ts'
import { waitForDelivery } from '../alerts/deliver/in-time.ts'

/** In an hour, of each administrator: each is a message to wherever somebody says. */
const MOST_MAILS = 20

/** A link that was made, and what the message with it says. */
export interface MadeLink {
  token: string
  isReset: boolean
  /** ms since the epoch. */
  expiresAt: number
}

/**
 * Sends a link by the first enabled channel for e-mail. It goes past the outbox, which would keep the link, so there is
 * one try, and the person stays whatever becomes of it.
 * @param email null: nobody asked for a message
 */
export async function mailLink(
  context: Context,
  actor: Actor,
  link: MadeLink,
  email: string | null,
): Promise<Pick<InvitedPerson, 'mail' | 'mailProblem'>> {
  if (email === null) return { mail: null, mailProblem: null }
  const mailProblem = await trySending(context, actor, link, email)
  return { mail: mailProblem === null ? 'sent' : 'failed', mailProblem }
}

/** @returns why nothing was sent, in words */
async function trySending(
  context: Context,
  actor: Actor,
  link: MadeLink,
  email: string,
): Promise<string | null> {
  const channel = await findMailChannel(context)
  if (!channel) return 'No alert channel for e-mail is enabled.'
  const sender = String(actor.id)
  if (context.linkMails.count(sender) >= MOST_MAILS)
    return `You have sent ${MOST_MAILS} links by e-mail within an hour. Send this one yourself.`
  context.linkMails.add(sender, 1)
  const id = `postern-link-${context.randomBytes(16).toString('hex')}`
  return await waitForDelivery(
    sendMail(context, { ...channel, recipients: [email] }, messageOf(context, actor, link), id),
  )
}

/** Names stand in its text alone, and never in a header. */
function messageOf({ config }: Context, { name }: Actor, { token, isReset, expiresAt }: MadeLink) {
  const host = config.publicHost
  const what = isReset
    ? `${name} lets you choose a new password for the Postern console at ${host}.`
    : `${name} invites you to the Postern console at ${host}.`
  const until = new Date(expiresAt).toISOString().replace('T', ' ').slice(0, 16)
  return {
    title: isReset ? `New password for Postern at ${host}` : `Invitation to Postern at ${host}`,
    text: `${what} This link works once, until ${until} UTC:`,
    url: `${publicUrl(config)}/invite#${token}`,
  }
}

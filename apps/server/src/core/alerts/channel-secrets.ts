import type { Channel, ChannelForm, ChannelKind, ChannelSecret } from '@postern/contract/alerts/channels'
import { CHANNEL_SECRETS, MailSecurity } from '@postern/contract/alerts/channels'
import { ALERT_MESSAGES } from '@postern/contract/alerts/messages'
import type { FieldError } from '@postern/contract/errors'
import * as z from 'zod/mini'
import { bracketed } from '../../config.ts'

/** What of a channel is stored as it is. */
export const ChannelSettings = z.object({
  inPrivateNetwork: z.boolean(),
  place: z.string(),
  chatId: z.nullable(z.string()),
  host: z.nullable(z.string()),
  port: z.nullable(z.number()),
  security: MailSecurity,
  username: z.nullable(z.string()),
  sender: z.nullable(z.string()),
  recipients: z.array(z.string()),
})
export type ChannelSettings = z.infer<typeof ChannelSettings>

/** What is sealed, by its names; absent: none. */
export const ChannelSecrets = z.partialRecord(
  z.enum(['password', 'url', 'signingSecret', 'token'] satisfies ChannelSecret[]),
  z.string(),
)
export type ChannelSecrets = z.infer<typeof ChannelSecrets>

/** A channel with everything that sending needs. */
export interface OpenChannel extends Omit<ChannelSettings, 'place'> {
  kind: ChannelKind
  secrets: ChannelSecrets
}

/** Only the fields of its kind: those of others are forgotten. */
export function settingsOf(form: ChannelForm, secrets: ChannelSecrets): ChannelSettings {
  const isMail = form.kind === 'email'
  return {
    inPrivateNetwork: form.inPrivateNetwork,
    place: placeOf(form, secrets),
    chatId: form.kind === 'telegram' ? form.chatId : null,
    host: isMail ? form.host : null,
    port: isMail ? form.port : null,
    security: form.security,
    username: isMail ? form.username : null,
    sender: isMail ? form.sender : null,
    recipients: isMail ? [...new Set(form.recipients)] : [],
  }
}

/** Of an address only its host: the rest may be what opens it. */
function placeOf({ kind, host, port, chatId }: ChannelForm, { url }: ChannelSecrets): string {
  if (kind === 'email') return `${bracketed(host ?? '')}:${port}`
  if (kind === 'telegram') return chatId ?? ''
  return URL.parse(url ?? '')?.host ?? ''
}

/** Where a stored secret may be sent. */
type Held = Pick<Channel, 'kind' | 'host' | 'port' | 'security' | 'username'> & { secrets: ChannelSecrets }

/**
 * Lays the secrets of a form over the stored ones: null keeps one, a blank removes it. One that is sent along is kept
 * only for the very same server: otherwise whoever may edit a channel could have it sent to a server of their own.
 */
export function settleSecrets(
  form: ChannelForm,
  held: Held | undefined,
): { secrets: ChannelSecrets; errors: FieldError[] } {
  const secrets: ChannelSecrets = {}
  const errors: FieldError[] = []
  for (const name of CHANNEL_SECRETS[form.kind]) {
    const typed = isUsed(form, name) ? form[name] : ''
    const value = typed ?? held?.secrets[name] ?? ''
    const isMoved = typed === null && value !== '' && !isSameServer(form, held, name)
    if (isMoved) errors.push({ field: name, message: ALERT_MESSAGES.secretAgain })
    else if (value !== '') secrets[name] = value
    else if (isRequired(form, name)) errors.push({ field: name, message: ALERT_MESSAGES.required })
  }
  return { secrets, errors }
}

/** A password without a user name is never sent. */
const isUsed = (form: ChannelForm, name: ChannelSecret) => name !== 'password' || form.username !== null

const isRequired = ({ kind }: ChannelForm, name: ChannelSecret) =>
  name === 'password' ? false : kind !== 'ntfy' || name === 'url'

function isSameServer(form: ChannelForm, held: Held | undefined, name: ChannelSecret): boolean {
  if (name === 'password')
    return (['host', 'port', 'security', 'username'] as const).every((key) => form[key] === held?.[key])
  // A bot's token goes to Telegram alone, and the secret of a signature is never sent.
  return form.kind !== 'ntfy' || name !== 'token' || form.url === null
}

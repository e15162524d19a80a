import { isHostname } from '@postern/net/hostname'
import { isIp } from '@postern/net/ip'
import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { ALERT_MESSAGES } from './messages.ts'

/** Where alerts are sent. */
export const ChannelKind = z.enum(['email', 'webhook', 'ntfy', 'slack', 'discord', 'telegram'])
export type ChannelKind = z.infer<typeof ChannelKind>

/** `tls`: from the first byte. `starttls`: after the greeting, or nothing is sent. */
export const MailSecurity = z.enum(['tls', 'starttls', 'none'])
export type MailSecurity = z.infer<typeof MailSecurity>

/** A secret of a channel: null or absent keeps the stored one, `''` means none. It is in no answer. */
const secret = z._default(z.nullable(z.string().check(z.trim(), z.maxLength(LIMITS.alertSecretLength))), null)

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text)
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  return isWeb && url.username === '' && url.password === '' && url.hash === ''
}

const channelUrl = z._default(
  z.nullable(
    z.string().check(
      z.trim(),
      z.maxLength(LIMITS.alertSecretLength),
      z.refine((text) => text === '' || isHttpUrl(text), ALERT_MESSAGES.url),
    ),
  ),
  null,
)

const mailHost = z.string().check(
  z.trim(),
  z.maxLength(253),
  z.refine((text) => isIp(text) || isHostname(text), ALERT_MESSAGES.mailHost),
)

/** Which secrets a channel of each kind has. */
export const CHANNEL_SECRETS = {
  email: ['password'],
  webhook: ['url', 'signingSecret'],
  ntfy: ['url', 'token'],
  slack: ['url'],
  discord: ['url'],
  telegram: ['token'],
} as const satisfies Readonly<Record<ChannelKind, readonly ChannelSecret[]>>
export type ChannelSecret = 'password' | 'url' | 'signingSecret' | 'token'

/** Of these the channel sends nothing until they are given. */
const REQUIRED = {
  email: ['host', 'port', 'sender', 'recipients'],
  webhook: ['url', 'signingSecret'],
  ntfy: ['url'],
  slack: ['url'],
  discord: ['url'],
  telegram: ['token', 'chatId'],
} as const satisfies Readonly<Record<ChannelKind, readonly string[]>>

const channelFields = {
  kind: ChannelKind,
  name: f.name,
  enabled: f.withDefault(z.boolean(), true),
  /** The server is in a private network: its addresses are allowed, and so is plain HTTP. */
  inPrivateNetwork: f.withDefault(z.boolean(), false),
  /** Of webhook, ntfy (with the topic), Slack and Discord. Whoever knows it can post there, so it is a secret. */
  url: channelUrl,
  /** Of a webhook, as Standard Webhooks has it: `whsec_` and 24 to 64 bytes in base64. */
  signingSecret: secret.check(
    z.refine(
      (text) => !text || /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/.test(text),
      ALERT_MESSAGES.signingSecret,
    ),
  ),
  /** An access token of ntfy, or that of the bot at Telegram. */
  token: secret.check(z.refine((text) => !text || /^[\x21-\x7e]+$/.test(text), ALERT_MESSAGES.token)),
  /** At Telegram. */
  chatId: f.blankable(
    z.string().check(z.trim(), z.regex(/^(-?\d{1,20}|@[A-Za-z]\w{4,31})$/, ALERT_MESSAGES.chatId)),
  ),
  /** Of e-mail from here on. */
  host: f.blankable(mailHost),
  port: f.blankable(f.port),
  security: f.withDefault(MailSecurity, 'tls'),
  /** Blank: the server asks for no sign-in. */
  username: f.blankable(
    z.string().check(z.trim(), z.maxLength(254), z.regex(/^[^\p{Cc}]+$/u, ALERT_MESSAGES.username)),
  ),
  password: secret,
  sender: f.blankable(f.email),
  recipients: f.listOf(f.email, LIMITS.alertRecipients),
}

type Fields = { [K in keyof typeof channelFields]: z.infer<(typeof channelFields)[K]> }

/** These rules also run while the kind is not one of ours, and every object has properties by other names. */
const kindOf = ({ kind }: Partial<Fields>): ChannelKind | undefined => ChannelKind.safeParse(kind).data

/** Null keeps a stored secret, so only a new channel must have it; the server knows which it has. */
function isGiven(form: Partial<Fields>, field: keyof Fields): boolean {
  const value = form[field]
  if (Array.isArray(value)) return value.length > 0
  const kind = kindOf(form)
  const isSecret = kind !== undefined && (CHANNEL_SECRETS[kind] as readonly string[]).includes(field)
  return isSecret ? value !== '' : value !== null && value !== undefined
}

const given = (field: (typeof REQUIRED)[ChannelKind][number]) =>
  z.refine<Partial<Fields>>(
    (form) => {
      const kind = kindOf(form)
      return (
        kind === undefined || !(REQUIRED[kind] as readonly string[]).includes(field) || isGiven(form, field)
      )
    },
    { path: [field], error: ALERT_MESSAGES.required, ...f.together },
  )

/** What a person can set for a channel. Fields of other kinds are ignored. */
export const ChannelForm = z.strictObject(channelFields).check(
  given('host'),
  given('port'),
  given('sender'),
  given('recipients'),
  given('url'),
  given('signingSecret'),
  given('token'),
  given('chatId'),
  z.refine((form) => form.inPrivateNetwork || typeof form.url !== 'string' || !/^http:/i.test(form.url), {
    path: ['url'],
    error: ALERT_MESSAGES.plainHttp,
    ...f.together,
  }),
)
export type ChannelForm = z.infer<typeof ChannelForm>
export type ChannelFormInput = z.input<typeof ChannelForm>

/** A channel in answers, without its secrets. */
export const Channel = z.object({
  id: z.number(),
  kind: ChannelKind,
  name: z.string(),
  enabled: z.boolean(),
  inPrivateNetwork: z.boolean(),
  /** Where it leads, without secrets: a host, or the chat. */
  place: z.string(),
  chatId: z.nullable(z.string()),
  host: z.nullable(z.string()),
  port: z.nullable(z.number()),
  security: MailSecurity,
  username: z.nullable(z.string()),
  sender: z.nullable(z.string()),
  recipients: z.array(z.string()),
  /** The secrets that are stored. */
  secrets: z.array(z.enum(['password', 'url', 'signingSecret', 'token'])),
  /** The newest message that was sent, or why it was not yet; null before the first. */
  last: z.nullable(z.object({ at: f.time, problem: z.nullable(z.string()) })),
  created_at: f.time,
  updated_at: f.time,
})
export type Channel = z.infer<typeof Channel>
export const ChannelList = z.array(Channel)

/** A test message with these values, before they are saved. `id`: the channel whose stored secrets are meant. */
export const ChannelTestForm = z.strictObject({ id: z.optional(z.nullable(f.id)), channel: ChannelForm })
export const ChannelTest = z.object({
  /** Why nothing was sent, in words; null: it was. */
  problem: z.nullable(z.string()),
})

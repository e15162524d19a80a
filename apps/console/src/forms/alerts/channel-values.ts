import type { Channel, ChannelFormInput, ChannelKind } from '@postern/contract/alerts/channels'

/** The kinds as lists and the form name them. */
export const CHANNEL_KINDS = {
  email: 'E-mail',
  ntfy: 'ntfy',
  slack: 'Slack',
  discord: 'Discord',
  telegram: 'Telegram',
  webhook: 'Webhook',
} as const satisfies Readonly<Record<ChannelKind, string>>

type Values = ChannelFormInput & { kind: ChannelKind }

/** The form's values while it is edited; null for a stored secret, which stays. */
export function channelValues(channel: Channel | undefined): Values {
  if (!channel) return { ...NEW_CHANNEL, ...fieldsOf('email') }
  const stored = (name: Channel['secrets'][number]) => (channel.secrets.includes(name) ? null : '')
  const { kind, name, enabled, inPrivateNetwork, chatId, host, port, security, username, sender } = channel
  return {
    ...{ kind, name, enabled, inPrivateNetwork, chatId, host, port, security, username, sender },
    recipients: [...channel.recipients],
    url: stored('url'),
    signingSecret: stored('signingSecret'),
    token: stored('token'),
    password: stored('password'),
  }
}

const NEW_CHANNEL = { kind: 'email', name: '', enabled: true } as const

/** The other fields of a new channel, for when another kind is chosen: what was typed for one is not meant for it. */
export function fieldsOf(kind: ChannelKind): Omit<Values, keyof typeof NEW_CHANNEL> {
  return {
    inPrivateNetwork: false,
    url: '',
    signingSecret: kind === 'webhook' ? newSigningSecret() : '',
    token: '',
    chatId: '',
    host: '',
    port: MAIL_PORTS.tls,
    security: 'tls',
    username: '',
    password: '',
    sender: '',
    recipients: kind === 'email' ? [''] : [],
  }
}

/** As Standard Webhooks has it. */
function newSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}

/** The usual port of each security. */
export const MAIL_PORTS = { tls: 465, starttls: 587, none: 25 } as const

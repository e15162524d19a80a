import type { ChannelFormInput, ChannelKind, MailSecurity } from '@postern/contract/alerts/channels'
import type { ComponentType } from 'react'
import { type UseFormReturn, useWatch } from 'react-hook-form'
import { serverUrls } from '../../util/urls.ts'
import { NumberField, SelectField, TextListField } from '../fields/bound-fields.tsx'
import { SecretField } from '../fields/SecretField.tsx'
import { TextField } from '../fields/TextField.tsx'
import { MAIL_PORTS } from './channel-values.ts'

interface Props {
  form: UseFormReturn<ChannelFormInput, unknown, unknown>
}

const SECURITIES = [
  { value: 'tls', text: 'TLS' },
  { value: 'starttls', text: 'STARTTLS' },
  { value: 'none', text: 'None' },
]

function EmailFields({ form: { control, setValue } }: Props) {
  const [security, port] = useWatch({ control, name: ['security', 'port'] })
  const follow = (next: string) => {
    const usual: readonly unknown[] = Object.values(MAIL_PORTS)
    // A select has no other values.
    if (usual.includes(port)) setValue('port', MAIL_PORTS[next as MailSecurity], { shouldDirty: true })
  }
  return (
    <>
      <div className="pair">
        <TextField
          control={control}
          name="host"
          label="Mail Server"
          required
          mono
          placeholder="smtp.example.com"
        />
        <NumberField control={control} name="port" label="Port" required />
      </div>
      <SelectField
        control={control}
        name="security"
        label="Security"
        options={SECURITIES}
        onValueChange={follow}
        {...(security === 'none' && { hint: 'Messages and the password go over the network in the clear.' })}
      />
      <TextField
        control={control}
        name="username"
        label="User Name (Optional)"
        hint="Leave it empty if the server asks for no sign-in."
      />
      <SecretField control={control} name="password" label="Password (Optional)" />
      <TextField control={control} name="sender" label="Sender" required placeholder="postern@example.com" />
      <TextListField
        control={control}
        name="recipients"
        label="Recipients"
        itemLabel="Recipient"
        addText="Add Recipient"
        placeholder="ann@example.com"
        takesMany
      />
    </>
  )
}

function WebhookFields({ form: { control } }: Props) {
  return (
    <>
      <SecretField
        control={control}
        name="url"
        label="URL"
        required
        isShown
        placeholder="https://example.com/alerts"
      />
      <SecretField
        control={control}
        name="signingSecret"
        label="Signing Secret"
        required
        isShown
        hint={
          <>
            Copy it to the receiver, which checks the signature with it.{' '}
            <a href={serverUrls.webhooks()} target="_blank" rel="noreferrer">
              How
            </a>
          </>
        }
      />
    </>
  )
}

function NtfyFields({ form: { control } }: Props) {
  return (
    <>
      <SecretField
        control={control}
        name="url"
        label="Topic"
        required
        isShown
        placeholder="https://ntfy.sh/your-topic"
        hint="Anyone who knows the topic can read along: choose one that nobody can guess."
      />
      <SecretField control={control} name="token" label="Access Token (Optional)" placeholder="tk_…" />
    </>
  )
}

function SlackFields({ form: { control } }: Props) {
  return (
    <SecretField
      control={control}
      name="url"
      label="Webhook URL"
      required
      isShown
      placeholder="https://hooks.slack.com/services/…"
      hint="In Slack: an app with Incoming Webhooks, and a webhook for the channel."
    />
  )
}

function DiscordFields({ form: { control } }: Props) {
  return (
    <SecretField
      control={control}
      name="url"
      label="Webhook URL"
      required
      isShown
      placeholder="https://discord.com/api/webhooks/…"
      hint="In Discord: the channel’s settings, Integrations, Webhooks."
    />
  )
}

function TelegramFields({ form: { control } }: Props) {
  return (
    <>
      <SecretField
        control={control}
        name="token"
        label="Bot Token"
        required
        hint="@BotFather gives it to you when you make a bot."
      />
      <TextField
        control={control}
        name="chatId"
        label="Chat"
        required
        mono
        placeholder="-1001234567890"
        hint="The number of the chat, or @channel. Write to the bot first, or add it to the group."
      />
    </>
  )
}

export const FIELDS_OF_KIND: Readonly<Record<ChannelKind, ComponentType<Props>>> = {
  email: EmailFields,
  webhook: WebhookFields,
  ntfy: NtfyFields,
  slack: SlackFields,
  discord: DiscordFields,
  telegram: TelegramFields,
}

import type { AlertMessage } from '@postern/contract/alerts/alerts'
import type { Context } from '../../../context.ts'
import type { OpenChannel } from '../channel-secrets.ts'
import { discordPost } from './discord.ts'
import { sendMail } from './email.ts'
import { ntfyPost } from './ntfy.ts'
import { type Post, post } from './post.ts'
import { slackPost } from './slack.ts'
import { telegramPost } from './telegram.ts'
import { webhookPost } from './webhook.ts'

type Parts = Pick<Context, 'config' | 'network' | 'tunnel' | 'outside' | 'clock'>

/**
 * Sends one message to one channel.
 * @param id names it: the same at each try
 * @throws DeliveryError
 */
export async function deliver(
  parts: Parts,
  channel: OpenChannel,
  message: AlertMessage,
  id: string,
): Promise<void> {
  if (channel.kind === 'email') return await sendMail(parts, channel, message, id)
  const { inPrivateNetwork } = channel
  await post(parts, { ...postOf(parts, channel, message, id), inPrivateNetwork })
}

function postOf(
  { outside, clock }: Parts,
  { kind, chatId, secrets }: OpenChannel,
  message: AlertMessage,
  id: string,
): Omit<Post, 'inPrivateNetwork'> {
  const { url = '', token, signingSecret = '' } = secrets
  switch (kind) {
    case 'ntfy':
      return ntfyPost({ url, token }, message)
    case 'slack':
      return slackPost(url, message)
    case 'discord':
      return discordPost(url, message)
    case 'telegram':
      return telegramPost(outside.telegram, { token: token ?? '', chatId: chatId ?? '' }, message)
    default:
      return webhookPost({ url, signingSecret }, message, { id, now: clock() })
  }
}

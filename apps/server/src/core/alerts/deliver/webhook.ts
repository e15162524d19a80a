import { createHmac } from 'node:crypto'
import type { AlertMessage } from '@postern/contract/alerts/alerts'
import type { Post } from './post.ts'

/**
 * A message as a webhook gets it, signed as Standard Webhooks (standardwebhooks.com) has it: `webhook-signature` is
 * `v1,` and the HMAC-SHA256, in base64, of `<webhook-id>.<webhook-timestamp>.<body>`.
 * @param id the same at each try, so that a receiver notices one that comes twice
 * @param now ms since the epoch
 */
export function webhookPost(
  { url, signingSecret }: { url: string; signingSecret: string },
  message: AlertMessage,
  { id, now }: { id: string; now: number },
): Omit<Post, 'inPrivateNetwork'> {
  const timestamp = String(Math.floor(now / 1000))
  const { event, ...data } = message
  const body = JSON.stringify({ type: `alert.${event}`, timestamp: new Date(now).toISOString(), data })
  const key = Buffer.from(signingSecret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    url,
    body,
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
  }
}

import type { AlertMessage } from '@postern/contract/alerts/alerts'
import type { Post } from './post.ts'
import { cut } from './words.ts'

/** As a bot's message, in Telegram's HTML. Its token is part of the address. */
export function telegramPost(
  api: string,
  { token, chatId }: { token: string; chatId: string },
  message: AlertMessage,
): Omit<Post, 'inPrivateNetwork'> {
  const link = `<a href="${escaped(message.url)}">Open the console</a>`
  const body = {
    chat_id: chatId,
    text: `<b>${escaped(cut(message.title, 250))}</b>\n${escaped(cut(message.text, 3000))}\n${link}`,
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  }
  return { url: `${api}/bot${encodeURIComponent(token)}/sendMessage`, body: JSON.stringify(body) }
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

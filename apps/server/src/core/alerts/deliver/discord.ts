import type { AlertMessage } from '@postern/contract/alerts/alerts'
import type { Post } from './post.ts'
import { cut, isEnd } from './words.ts'

const [GREEN, RED, BLUE] = [0x2f9e44, 0xe03131, 0x1971c2]

/** Names nobody: without `allowed_mentions` a node called `@everyone` would. */
export function discordPost(url: string, message: AlertMessage): Omit<Post, 'inPrivateNetwork'> {
  const body = {
    username: 'Postern',
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: escaped(cut(message.title, 120)),
        description: escaped(cut(message.text, 1900)),
        url: message.url,
        color: isEnd(message) ? GREEN : message.event === 'test' ? BLUE : RED,
      },
    ],
  }
  return { url, body: JSON.stringify(body) }
}

/** What Discord's Markdown reads; at most doubles a text. */
function escaped(text: string): string {
  return text.replace(/[\\*_~`|>#[\]()<:@-]/g, '\\$&')
}

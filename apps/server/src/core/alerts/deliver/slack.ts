import type { AlertMessage } from '@postern/contract/alerts/alerts'
import type { Post } from './post.ts'
import { cut } from './words.ts'

/** Texts are plain, so that no name in them is a mention or a link; only the notification's needs escaping. */
export function slackPost(url: string, message: AlertMessage): Omit<Post, 'inPrivateNetwork'> {
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })
  const body = {
    text: escaped(cut(message.title, 1000)),
    blocks: [
      { type: 'header', text: plain(cut(message.title, 150)) },
      { type: 'section', text: plain(cut(message.text, 3000)) },
      {
        type: 'context',
        elements: [
          { type: 'mrkdwn', text: `<${escaped(message.url).replaceAll('|', '%7C')}|Open the console>` },
        ],
      },
    ],
  }
  return { url, body: JSON.stringify(body) }
}

/** Slack's three characters of control. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

import type { AlertMessage } from '@postern/contract/alerts/alerts'
import type { Post } from './post.ts'
import { cut, isEnd } from './words.ts'

/** In bytes; ntfy makes a file of a longer message. */
const MOST = 3500

/**
 * Published as JSON, to the server of the topic: texts in its headers would have to be escaped.
 * @param url that of the topic, like `https://ntfy.sh/my-alerts`
 */
export function ntfyPost(
  { url, token }: { url: string; token: string | undefined },
  message: AlertMessage,
): Omit<Post, 'inPrivateNetwork'> {
  const { origin, pathname } = new URL(url)
  const [topic = '', ...base] = pathname.replace(/\/+$/, '').split('/').reverse()
  const body = {
    topic: decoded(topic),
    title: cut(message.title, 250),
    message: cutBytes(message.text),
    priority: isEnd(message) ? 3 : message.isUrgent ? 5 : 4,
    tags: [isEnd(message) ? 'white_check_mark' : message.event === 'test' ? 'test_tube' : 'rotating_light'],
    click: message.url,
  }
  return {
    url: `${origin}${base.reverse().join('/')}/`,
    body: JSON.stringify(body),
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  }
}

/** The whole address may still be one of a server that takes it so. */
function decoded(topic: string): string {
  try {
    return decodeURIComponent(topic)
  } catch {
    return topic
  }
}

function cutBytes(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= MOST) return text
  return `${bytes
    .subarray(0, MOST)
    .toString('utf8')
    .replace(/\ufffd+$/, '')}…`
}

import { createHmac } from 'node:crypto'
import type { AlertMessage } from '@postern/contract/alerts/alerts'
import { describe, expect, it, test } from 'vitest'
import { discordPost } from './discord.ts'
import { ntfyPost } from './ntfy.ts'
import { slackPost } from './slack.ts'
import { telegramPost } from './telegram.ts'
import { webhookPost } from './webhook.ts'

const message: AlertMessage = {
  event: 'opened',
  title: '<b>@everyone</b> *wiki* <!channel> does not answer',
  text: 'Node: <script>&"\n[link](https://evil.example.com) `x` _y_',
  url: 'https://203.0.113.1/why?url=https%3A%2F%2Fa.example.com%2F',
  isUrgent: false,
  alerts: [],
}

const bodyOf = ({ body }: { body: string }) => JSON.parse(body)

test('Slack gets plain text, and a notification in which nothing is a mention', () => {
  const body = bodyOf(slackPost('https://hooks.slack.com/services/a', message))
  expect(body.text).toBe('&lt;b&gt;@everyone&lt;/b&gt; *wiki* &lt;!channel&gt; does not answer')
  expect(body.blocks.slice(0, 2)).toEqual([
    { type: 'header', text: { type: 'plain_text', text: message.title, emoji: false } },
    { type: 'section', text: { type: 'plain_text', text: message.text, emoji: false } },
  ])
  expect(body.blocks[2].elements[0].text).toBe(`<${message.url}|Open the console>`)
})

test('Discord gets text without Markdown, and mentions nobody', () => {
  const body = bodyOf(discordPost('https://discord.com/api/webhooks/a', message))
  expect(body.allowed_mentions).toEqual({ parse: [] })
  const [embed] = body.embeds
  expect(embed.title).toBe('\\<b\\>\\@everyone\\</b\\> \\*wiki\\* \\<!channel\\> does not answer')
  expect(embed.description).toContain('\\[link\\]\\(https\\://evil.example.com\\) \\`x\\` \\_y\\_')
  expect(embed.url).toBe(message.url)
})

test('Telegram gets its HTML, in which every name is text', () => {
  const post = telegramPost('https://api.telegram.org', { token: '1:a/b', chatId: '-100' }, message)
  expect(post.url).toBe('https://api.telegram.org/bot1%3Aa%2Fb/sendMessage')
  const body = bodyOf(post)
  expect(body).toMatchObject({
    chat_id: '-100',
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  })
  expect(body.text.split('\n')[0]).toBe(
    '<b>&lt;b&gt;@everyone&lt;/b&gt; *wiki* &lt;!channel&gt; does not answer</b>',
  )
  expect(body.text).toContain('&lt;script&gt;&amp;&quot;')
})

describe('ntfy', () => {
  it('takes a topic that is no encoded text as it is', () => {
    const post = ntfyPost({ url: 'https://ntfy.sh/100%&%zz', token: undefined }, message)
    expect(bodyOf(post).topic).toBe('100%&%zz')
  })

  it('gets JSON at the server of the topic, with priority, tag and link', () => {
    const post = ntfyPost({ url: 'https://push.example.com/base/my%20topic/', token: 'tk_a' }, message)
    expect(post.url).toBe('https://push.example.com/base/')
    expect(post.headers).toEqual({ authorization: 'Bearer tk_a' })
    expect(bodyOf(post)).toEqual({
      topic: 'my topic',
      title: message.title,
      message: message.text,
      priority: 4,
      tags: ['rotating_light'],
      click: message.url,
    })
  })

  it.each([
    [{ event: 'cleared' as const }, 3, 'white_check_mark'],
    [{ isUrgent: true }, 5, 'rotating_light'],
    [{ event: 'test' as const }, 4, 'test_tube'],
  ])('of %j has priority %i and the tag %s', (over, priority, tag) => {
    const post = ntfyPost({ url: 'https://ntfy.sh/a', token: undefined }, { ...message, ...over })
    expect(bodyOf(post)).toMatchObject({ priority, tags: [tag] })
    expect(post.headers).toBeUndefined()
  })
})

test('texts are cut to what each takes, at whole characters', () => {
  const long = { ...message, title: '😀'.repeat(2000), text: '<&😀'.repeat(20_000) }
  const slack = bodyOf(slackPost('https://x.example.com', long))
  expect(slack.blocks[0].text.text.length).toBeLessThanOrEqual(150)
  expect(slack.blocks[1].text.text.length).toBeLessThanOrEqual(3000)
  const [embed] = bodyOf(discordPost('https://x.example.com', long)).embeds
  expect(embed.title.length).toBeLessThanOrEqual(256)
  expect(embed.description.length).toBeLessThanOrEqual(4096)
  const { text } = bodyOf(telegramPost('https://x.example.com', { token: 'a', chatId: '1' }, long))
  expect(text.replace(/&\w+;|<[^>]+>/g, 'x').length).toBeLessThanOrEqual(4096)
  const ntfy = bodyOf(ntfyPost({ url: 'https://ntfy.sh/a', token: undefined }, long))
  expect(Buffer.byteLength(ntfy.message)).toBeLessThan(4096)
  for (const each of [slack.blocks[0].text.text, embed.title, text, ntfy.message])
    expect(Buffer.from(each).toString()).toBe(each)
})

test('a webhook is signed as Standard Webhooks has it, the same id at each try', () => {
  const secret = Buffer.from('a secret of twenty-four b').toString('base64')
  const at = { id: 'postern-5-7', now: Date.parse('2026-03-02T12:00:00.900Z') }
  const post = webhookPost(
    { url: 'https://a.example.com/hook', signingSecret: `whsec_${secret}` },
    message,
    at,
  )
  const timestamp = '1772452800'
  const hmac = createHmac('sha256', 'a secret of twenty-four b')
  const signature = hmac.update(`postern-5-7.${timestamp}.${post.body}`).digest('base64')
  expect(post.headers).toEqual({
    'webhook-id': 'postern-5-7',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  })
  const { event, ...data } = message
  expect(bodyOf(post)).toEqual({ type: `alert.${event}`, timestamp: '2026-03-02T12:00:00.900Z', data })
})

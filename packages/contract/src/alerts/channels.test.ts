import { expect, test } from 'vitest'
import { ChannelForm } from './channels.ts'

test.each(['__proto__', 'constructor', 'toString', 'fax', 7, null])('%s is no kind of channel', (kind) => {
  const { error } = ChannelForm.safeParse({ kind, name: 'hook' })
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(['kind'])
})

test('a channel needs what its kind needs', () => {
  const { error } = ChannelForm.safeParse({ kind: 'telegram', name: 'bot', url: 'https://a.example.com' })
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(['chatId'])
})

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

test('an address that has no text is refused at its field', () => {
  const url: unknown = JSON.parse('{"toString":1,"valueOf":1}')
  const { error } = ChannelForm.safeParse({ kind: 'slack', name: 'hook', url })
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(['url'])
})

import { expect, test } from 'vitest'
import { watchHaproxy } from './haproxy-watch.ts'

test('a new HAProxy is said, nothing new is not, and a failure is said and tried again', async () => {
  const answers: (() => string | undefined)[] = [
    () => undefined,
    () => {
      throw new Error('HAProxy of Debian 13 could not be fetched: no network')
    },
    () => '3.0.12-1+deb13u1',
  ]
  const said: string[] = []
  const watch = watchHaproxy((text) => void said.push(text), {
    ask: async () => answers.shift()?.(),
    everyMs: 1,
  })
  await expect
    .poll(() => said)
    .toEqual([
      'postern: HAProxy of Debian 13 could not be fetched: no network\n',
      'postern: HAProxy 3.0.12-1+deb13u1 has come; the edge hands over to it\n',
    ])
  watch.stop()
})

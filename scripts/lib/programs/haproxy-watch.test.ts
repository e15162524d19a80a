import { expect, test } from 'vitest'
import { watchHaproxy } from './haproxy-watch.ts'

test('a new HAProxy is reported, no news is not, and a failure is reported and tried again', async () => {
  const answers: (() => string | undefined)[] = [
    () => undefined,
    () => {
      throw new Error('HAProxy of Debian 13 could not be fetched: no network')
    },
    () => '3.0.12-1+deb13u1',
  ]
  const lines: string[] = []
  const watch = watchHaproxy((text) => void lines.push(text), {
    ask: async () => answers.shift()?.(),
    everyMs: 1,
  })
  await expect
    .poll(() => lines)
    .toEqual([
      'postern: HAProxy of Debian 13 could not be fetched: no network\n',
      'postern: HAProxy 3.0.12-1+deb13u1 is installed; the edge hands over to it\n',
    ])
  watch.stop()
})

import { askHttp2 } from '@postern/testkit/http2-wire'
import { shared } from '@postern/testkit/shared'
import { sendRaw, statusesIn } from '@postern/testkit/wire'
import { describe, expect, test } from 'vitest'
import { HOST, startProxyLab } from './lab/proxy-lab.ts'
import { HOSTS } from './tables/hosts.ts'

const lab = shared(startProxyLab)

const reachedBy = (id: string) => lab.reached(id).map(({ by }) => by)

const OVER_HTTP2 = HOSTS.map(([name, host, overHttp1, verdict = overHttp1]) => [name, host, verdict] as const)

describe.concurrent('a host', () => {
  test.each(HOSTS)('%s', async (_, host, verdict) => {
    const id = lab.nextId()
    const head = `GET /f HTTP/1.1\r\nHost: ${host}\r\nX-Attack: ${id}\r\nConnection: close\r\n\r\n`
    const statuses = statusesIn(await sendRaw(lab.port, head))
    const expected = typeof verdict === 'number' ? [[verdict], []] : [[200], [verdict]]
    expect([statuses, reachedBy(id)]).toEqual(expected)
  })

  test.each(OVER_HTTP2)('%s, over HTTP/2', async (_, host, verdict) => {
    const id = lab.nextId()
    const status = await askHttp2(lab.port, [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':authority', host],
      [':path', '/f'],
      ['x-attack', id],
    ])
    if (typeof verdict === 'string') expect([status, reachedBy(id)]).toEqual([200, [verdict]])
    else expect([[verdict, 'reset', 'closed'], reachedBy(id)]).toEqual([expect.arrayContaining([status]), []])
  })
})

test('exactly one host is required', async () => {
  const id = lab.nextId()
  const ask = (hosts: string) =>
    sendRaw(lab.port, `GET /f HTTP/1.1\r\n${hosts}X-Attack: ${id}\r\nConnection: close\r\n\r\n`)
  for (const hosts of ['', `Host: ${HOST}\r\nHost: b.example.com\r\n`])
    expect(statusesIn(await ask(hosts))).toEqual([400])
  expect(reachedBy(id)).toEqual([])
})

test('no request that two programs could read differently got through', () => {
  expect(lab.faults()).toEqual([])
})

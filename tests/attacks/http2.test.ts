import { askHttp2, type Field } from '@postern/testkit/http2-wire'
import { shared } from '@postern/testkit/shared'
import { beforeAll, describe, expect, test } from 'vitest'
import { ID, startProxyLab } from './lab/proxy-lab.ts'
import { HTTP2 } from './tables/pseudo-headers.ts'

let pid: number
const lab = shared(startProxyLab)
beforeAll(async () => {
  pid = await lab.haproxy.pid()
})

describe.concurrent('an HTTP/2 request with', () => {
  test.each(HTTP2)('%s', async (_, { fields, outcomes, ...rest }) => {
    const id = lab.nextId()
    const named = fields.map(([name, value]): Field => [name, value.replaceAll(ID, id)])
    const seen = await askHttp2(lab.port, named, rest)
    const reached = lab.reached(id).filter(({ request }) => request.isWhole)
    const heads = reached.map(({ by, request }) => [by, `${request.method} ${request.target}`])
    const possible = outcomes.map(([outcome, got]) => [outcome, ...(got ? [['root', got]] : [])])
    expect(possible).toContainEqual([seen, ...heads])
  })
})

test('no request that two programs could read differently got through', () => {
  expect(lab.faults()).toEqual([])
})

test('none of it ended HAProxy', () => {
  expect(process.kill(pid, 0)).toBe(true)
})

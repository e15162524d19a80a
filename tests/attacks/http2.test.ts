import { askHttp2, type Field } from '@postern/testkit/http2-wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ID, type ProxyLab, startProxyLab } from './lab/proxy-lab.ts'
import { HTTP2 } from './tables/pseudo-headers.ts'

let lab: ProxyLab
beforeAll(async () => {
  lab = await startProxyLab()
})
afterAll(() => lab.close())

describe.concurrent('an HTTP/2 request with', () => {
  test.each(HTTP2)('%s', async (_, { fields, outcome, got, ...rest }) => {
    const id = lab.nextId()
    const named = fields.map(([name, value]): Field => [name, value.replaceAll(ID, id)])
    const seen = await askHttp2(lab.port, named, rest)
    const reached = lab.reached(id).filter(({ request }) => request.isWhole)
    const heads = reached.map(({ by, request }) => [by, `${request.method} ${request.target}`])
    expect([seen, ...heads]).toEqual([outcome, ...(got ? [['root', got]] : [])])
  })
})

test('nothing that two programs could read in two ways came through', () => {
  expect(lab.faults()).toEqual([])
})

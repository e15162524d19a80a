import type { Exec } from '@postern/host/processes/exec'
import { inSections } from '@postern/render/resolved-route'
import { expect, test } from 'vitest'
import { makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { endWaiting } from './sessions.ts'
import type { HaproxySocket } from './socket.ts'

const route = makeLabRoute(2, 8080, { address: '10.64.0.2' })

const sessionOf = (id: number, from: string, to: string) =>
  `0x${id.toString(16)}: [x] id=${id} proto=tcpv4 source=198.51.100.1:5\n  backend=safe_http (id=1 mode=http) addr=${from}
  server=target (id=1) addr=${to}\n  scb=0x1 flags=0x0 state=EST x\n  txn=0x1 rsp.st=MSG_RPBEFORE x\n`

/** A HAProxy with one request that waits, by a connection between the two ends. @returns what programs were asked for */
async function endWith(from: string, to: string, others = 0): Promise<string[][]> {
  const own = sessionOf(7, from, to)
  const all = Array.from({ length: others }, (_, index) =>
    sessionOf(index + 100, '10.64.0.1:1', '10.64.0.9:1'),
  )
  const text = [...all.slice(others / 2), own, ...all.slice(0, others / 2)].join('')
  let isOpen = true
  const owners = '0x1: key=7,198.51.100.1 use=1 exp=0 gpt0=2\n'
  const socket: HaproxySocket = {
    send: async () => owners,
    sendAll: async ([first]) => (first?.startsWith('show table') ? owners : isOpen ? own : ''),
    async read(_, onText) {
      for (let at = 0; at < text.length; at += 60_001) onText(text.slice(at, at + 60_001))
    },
  }
  const asked: string[][] = []
  const exec: Pick<Exec, 'run'> = {
    async run(program, args) {
      asked.push([program, ...args])
      isOpen = false
      return { code: 0, stdout: '', stderr: '' }
    },
  }
  const node = route.node.kind === 'local' ? 0 : route.node.id
  await endWaiting({ socket, exec }, inSections([route]), new Set([node]))
  return asked
}

test('the kernel is asked to end the connection of a request that waits for a node which is down', async () => {
  expect(await endWith('10.64.0.1:40000', '10.64.0.2:8080')).toEqual([
    ['ss', '--kill', '--no-header', '--numeric', '--tcp'].concat(
      ...['(', 'src', '10.64.0.1:40000', 'and', 'dst', '10.64.0.2:8080', ')'],
    ),
  ])
})

test.each([
  ['the operator’s own', '203.0.113.1:22', '198.51.100.9:50000'],
  ['that of another service', '10.64.0.1:40000', '10.64.0.3:8080'],
  ['what is no address', '10.64.0.1:1)or(sport:1', '10.64.0.2:8080'],
])('a HAProxy that was taken over cannot make it end another connection: %s', async (_, from, to) => {
  expect(await endWith(from, to)).toEqual([])
})

test('a request is found among any number of others', async () => {
  expect(await endWith('10.64.0.1:40000', '10.64.0.2:8080', 60_000)).toHaveLength(1)
})

import type { Exec } from '@postern/host/exec'
import { inSections } from '@postern/render/resolved-route'
import { expect, test } from 'vitest'
import { makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { endWaiting } from './sessions.ts'
import type { HaproxySocket } from './socket.ts'

const route = makeLabRoute(2, 8080, { address: '10.64.0.2' })

/** A HAProxy with one request that waits, by a connection between the two ends. @returns what programs were asked for */
async function endWith(from: string, to: string): Promise<string[][]> {
  const session = `0x1: [x] id=7 proto=tcpv4 source=198.51.100.1:5\n  backend=safe_http (id=1 mode=http) addr=${from}
  server=target (id=1) addr=${to}
  scb=0x1 flags=0x0 state=EST x\n  txn=0x1 rsp.st=MSG_RPBEFORE x\n`
  let isOpen = true
  const socket = {
    send: async (command: string) =>
      command.startsWith('show table') ? '0x1: key=7,198.51.100.1 use=1 exp=0 gpt0=2\n' : session,
    sendAll: async (commands: readonly string[]) =>
      commands[0]?.startsWith('show table')
        ? '0x1: key=7,198.51.100.1 use=1 exp=0 gpt0=2\n'
        : isOpen
          ? session
          : '',
  }
  const asked: string[][] = []
  const exec = {
    async run(program: string, args: readonly string[]) {
      asked.push([program, ...args])
      isOpen = false
      return { code: 0, stdout: '', stderr: '' }
    },
  }
  // Only what is used of both.
  const parts = { socket: socket as unknown as HaproxySocket, exec: exec as unknown as Exec }
  await endWaiting(parts, inSections([route]), new Set([route.node.kind === 'local' ? 0 : route.node.id]))
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
])('a HAProxy that was taken over has it end no other connection: %s', async (_, from, to) => {
  expect(await endWith(from, to)).toEqual([])
})

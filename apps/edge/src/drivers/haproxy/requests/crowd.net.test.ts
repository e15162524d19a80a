import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { shared } from '@postern/testkit/shared'
import { repeatableMs } from '@postern/testkit/time'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
} from '../../../../test/haproxy-lab.ts'
import { startLab } from '../../../../test/lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'

let lab: HaproxyLab
let server: Upstream
const crowd: ChildProcess[] = []

/** Ten /64 of one /48, and ten /64 of as many /48. */
const NEIGHBOURS = Array.from({ length: 10 }, (_, i) => `2001:db8:1:${i}::1`)
const STRANGERS = Array.from({ length: 10 }, (_, i) => `2001:db8:${i + 16}::1`)
const TARGET = '2001:db8:ffff::1'

const machine = shared(() => startLab())
beforeAll(async () => {
  for (const address of [TARGET, ...NEIGHBOURS, ...STRANGERS])
    await machine.must('ip', '-6', 'address', 'add', `${address}/128`, 'dev', 'lo', 'nodad')
  lab = await makeHaproxyLab({ exec: machine.exec, addresses: ['127.0.0.1', TARGET] })
  server = await startUpstream({ path: lab.serverSocket })
  // No backend listens there: a page of ours, or a redirect, is answer enough.
  expect(await lab.apply([makeConsoleRoute(), makeLabRoute(2, 1, { enabled: false })])).toEqual([])
})

afterAll(async () => {
  for (const each of crowd) each.kill('SIGKILL')
  await lab.close()
  await server.close()
})

/** Ten thousand silent connections in all, opened by two processes. */
async function gather(): Promise<void> {
  const program = join(import.meta.dirname, '../../../../test/programs/silent-crowd.ts')
  const open = (sources: string[]) => {
    const pairs = sources.map((source) => `${TARGET},${source}`)
    const [command = '', ...argv] = machine.argv(
      process.execPath,
      program,
      String(lab.httpsPort),
      '500',
      ...pairs,
    )
    const child = spawn(command, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
    crowd.push(child)
    return new Promise((resolve) => child.stdout.once('data', resolve))
  }
  await Promise.all([open(NEIGHBOURS), open(STRANGERS)])
}

async function ask(host: string): Promise<number> {
  const to = ['--resolve', `${host}:${lab.httpsPort}:127.0.0.1`, `https://${host}:${lab.httpsPort}/`]
  return Number(await machine.must('curl', '-sk', '-m', '15', '-o', '/dev/null', '-w', '%{http_code}', ...to))
}

async function memory(): Promise<number> {
  return Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${await lab.pid()}/status`, 'utf8'))?.[1])
}

/** How many connections of such a source HAProxy counts now. */
async function counts(table: string): Promise<number[]> {
  const found = (await lab.command(`show table ${table}`)).matchAll(/key=2001:\S+ .*conn_cur=(\d+)/g)
  return [...found].map(([, count]) => Number(count))
}

describe('ten thousand silent connections', () => {
  test('hold up neither a visitor nor the console', async () => {
    await gather()
    const networks = await counts('networks')
    for (const [host, status] of [
      ['s2.example.com', 503],
      ['console.example.com', 200],
    ] as const) {
      const visit = async () => expect(await ask(host)).toBe(status)
      // 100 ms is the aim on a quiet machine.
      expect(await repeatableMs(500, visit)).toBeLessThan(500)
    }
    // In kB; about 40 for each that is let in.
    expect(await memory()).toBeLessThan(300_000)
    // Nobody is remembered for long.
    expect(await lab.command('show table sources')).toMatch(/ exp=[1-9]\d{0,4} /)
    // The /48 as a whole, and each /64 alone.
    expect(Math.max(...networks)).toBeLessThanOrEqual(2020)
    expect(Math.max(...(await counts('sources')))).toBeLessThanOrEqual(520)
  })
})

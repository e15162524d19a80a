import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Node } from '@postern/contract/nodes'
import { type Installation, startInstallation } from '../installation.ts'
import type { Running } from '../processes/exec.ts'
import type { Http2Crowd } from '../programs/http2-crowd.ts'
import { until } from '../until.ts'
import { openSocket } from '../visitor.ts'
import { type Host, type Lab, startLab } from './network.ts'
import { startEcho, startListening } from './upstreams.ts'

const program = (name: string) => fileURLToPath(new URL(`../programs/${name}.ts`, import.meta.url))
const [ECHO, WAITING] = [8080, 8081]
export const [APP, SLOW, CLOSED] = ['app.example.com', 'slow.example.com', 'closed.example.com']

/** Addresses of attackers, each one source: IPv4 addresses, and a hundred /64 of one /48. */
export const ATTACKERS = [7, 8, 9, 10, 11, 12, 13, 14].map((last) => ({
  ipv4: [`198.51.100.${last}`],
  network: Array.from({ length: 100 }, (_, index) => `2001:db8:${last}:${index.toString(16)}::1`),
}))
export const [{ ipv4: IPV4, network: NETWORK } = { ipv4: [], network: [] }] = ATTACKERS

/** What is measured: a visitor's page, form and WebSocket, and signing in to the console. */
export type Served = 'page' | 'form' | 'socket' | 'sign-in'

/** An installation with a service that answers, one that never does, and hosts of visitors. */
export interface BudgetLab {
  lab: Lab
  installation: Installation
  /** An attack from the visitor's host, by its own addresses. */
  attack(crowd: Omit<Http2Crowd, 'server' | 'host'> & { host?: string }): Running
  /**
   * @returns how long each action of another visitor takes meanwhile, in ms
   * @throws Error when one fails
   */
  othersAreServed(): Promise<Record<Served, number>>
  /** A browser's page with a hundred files: all of them arrive. */
  hundredArrive(): Promise<void>
  /** HAProxy's memory, in kB. */
  memory(): number
  close(): Promise<void>
}

/** @param settings of the server and the edge */
export async function startBudgetLab(settings: Record<string, string> = {}): Promise<BudgetLab> {
  const lab = await startLab()
  const installation = await startInstallation(lab, settings)
  const { api, dataDir } = installation
  await startEcho(lab.server, `${dataDir}/upstreams`, ECHO)
  const command = [process.execPath, program('waiting'), String(WAITING)]
  await startListening(lab.server, command, `${dataDir}/upstreams`, 'waiting', WAITING)
  // `call` has checked it against the contract.
  const nodes = (await api.call('GET', '/api/nodes')).json as Node[]
  const local = nodes.find(({ isLocal }) => isLocal)?.id ?? 0
  await api.publish(local, { name: 'app', domain: APP, backendHost: '127.0.0.1', backendPort: ECHO })
  await api.publish(local, { name: 'closed', domain: CLOSED, backendHost: '127.0.0.1', backendPort: 1 })
  const slow = await api.publish(local, {
    name: 'slow',
    domain: SLOW,
    backendHost: '127.0.0.1',
    backendPort: WAITING,
  })
  await until('the services', async () => (await api.getService(slow)).state.phase === 'live')
  await makeAttackers(lab)
  let count = 0
  const log = (name: string) => `${dataDir}/${name}-${count++}.log`
  const status = () => readFileSync(`/proc/${installation.haproxyPid()}/status`, 'utf8')
  const begin = (host: Host, crowd: Omit<Http2Crowd, 'server'>) => {
    const isIpv6 = crowd.from.some((address) => address.includes(':'))
    const whole = { server: isIpv6 ? '2001:db8::1' : lab.server.address, ...crowd }
    const argv = [process.execPath, program('http2-crowd'), JSON.stringify(whole)]
    return host.start(argv, { logFile: log('crowd') })
  }
  return {
    lab,
    installation,
    attack: (crowd) => begin(lab.visitor, { host: SLOW, ...crowd }),
    async hundredArrive() {
      const crowd = { from: [lab.site.address], host: APP, connections: 1, streams: 100, path: '/' }
      await until('a hundred answers', async () => {
        const page = begin(lab.site, crowd)
        const result = await until('the answers', () => /\{"(\d+)":100\}|closed/.exec(page.output())?.[0])
        await page.stop()
        // Reconnects like a browser when the handshake took too long on a busy machine.
        if (result !== 'closed' && result !== '{"200":100}') throw new Error(`not all arrived: ${result}`)
        return result !== 'closed'
      })
    },
    othersAreServed: () => visitAll(lab, log('socket')),
    memory: () => Number(/^VmRSS:\s+(\d+)/m.exec(status())?.[1]),
    async close() {
      await installation.close()
      await lab.close()
    },
  }
}

async function makeAttackers({ visitor, server }: Lab): Promise<void> {
  const addresses = ATTACKERS.flatMap(({ ipv4, network }) => [
    ...ipv4.map((address) => `${address}/32`),
    ...network.map((address) => `${address}/128`),
  ])
  const lines = addresses.map(
    (address) => `address add ${address} dev lo${address.includes(':') ? ' nodad' : ''}`,
  )
  await visitor.must('sh', '-c', `printf '%s\\n' "$0" | ip -batch -`, lines.join('\n'))
  await server.must('ip', 'route', 'add', '198.51.100.0/24', 'via', visitor.address)
  for (const { network } of ATTACKERS)
    await server.must(
      'ip',
      '-6',
      'route',
      'add',
      `${network[0]}/48`.replace(/:0::1/, '::'),
      'via',
      '2001:db8::100',
    )
}

/** A visitor from an address of its own. */
async function visitAll(lab: Lab, logFile: string): Promise<Record<Served, number>> {
  const start = performance.now()
  const socket = openSocket(lab.site, APP, logFile)
  const url = `https://${APP}/`
  const login = '{"username":"admin","password":"lab-password-1"}'
  const page = await timeOf(lab, url, [])
  const form = await timeOf(lab, url, ['-d', 'x'.repeat(100)])
  const json = ['-H', 'content-type: application/json', '-d', login]
  const signIn = await timeOf(lab, `https://${lab.server.address}/api/auth/login`, json)
  await until('an echo', () => socket.output().includes('echo 5'))
  const took = performance.now() - start
  const isClosed = socket.output().includes('closed')
  await socket.stop()
  if (isClosed) throw new Error('the WebSocket was closed')
  return { page, form, socket: took - page - form - signIn, 'sign-in': signIn }
}

/** In ms, from the connection to the end of the answer. @throws Error unless it is 200 */
async function timeOf({ site, server }: Lab, url: string, args: string[]): Promise<number> {
  const { hostname } = new URL(url)
  const common = ['-sk', '-m', '8', '-o', '/dev/null', '-w', '%{http_code} %{time_total}']
  const output = await site.must(
    'curl',
    ...[...common, '--http1.1', '--resolve', `${hostname}:443:${server.address}`, ...args, url],
  )
  const [status, seconds] = output.split(' ')
  if (status !== '200') throw new Error(`${url} answered ${status}`)
  return Number(seconds) * 1000
}

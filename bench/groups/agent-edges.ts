import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { isAnswered } from '@postern/host/socket'
import { parseWgDump } from '@postern/host/wg-dump'
import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import { addNamespace, connect, type Namespace } from '@postern/testkit/lab/namespace'
import { getHolder } from '@postern/testkit/processes/holder'
import { processorMsWithPrograms } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import type { Measured } from '../figures.ts'
import type { Effort } from '../sizes.ts'
import type { FullInstallation } from './full-installation.ts'

/** The further edges: of each only the end of the tunnel, which is all that an agent sees. */
const NUMBERS = [2, 3]

/** An idle agent's work, with that of the programs it runs, when there are three edges, and one. */
export async function measureAgentEdges(full: FullInstallation, effort: Effort): Promise<Measured> {
  const light = await watchAgent(full, effort)
  const ends = await Promise.all(NUMBERS.map((number) => startEnd(full, number)))
  try {
    joinEdges(full, ends)
    await tellAgent(full, 24)
    await untilOnline(full, ends.length + 1)
    const heavy = await watchAgent(full, effort)
    return { name: 'agent: idle with three edges', heavy, light, unit: 'ms' }
  } finally {
    inDatabase(full, (database) => database.exec('DELETE FROM edges WHERE number > 1'))
    await tellAgent(full, 25)
    for (const { space } of ends) await space.remove()
  }
}

/** @returns ms of processor time in a minute */
async function watchAgent({ agent }: FullInstallation, { agentSeconds }: Effort): Promise<number> {
  const { pid } = getHolder(`${agent.dir}/run/agent.pid`)
  const before = processorMsWithPrograms(pid)
  await pause(agentSeconds * 1000)
  return ((processorMsWithPrograms(pid) - before) * 60) / agentSeconds
}

interface End {
  space: Namespace
  number: number
  publicKey: string
  host: string
}

async function startEnd(full: FullInstallation, number: number): Promise<End> {
  const { lab, agent, installation } = full
  const space = await addNamespace(`${lab.id}-end${number}`)
  const [port, host] = [`p2${number}`, `203.0.113.2${number}`]
  await connect(lab.server, port, space, 'eth0')
  await lab.server.must('ip', 'link', 'set', port, 'master', 'br0')
  await space.must('ip', 'addr', 'add', `${host}/24`, 'dev', 'eth0')
  const tunnel = `${installation.interface.slice(0, 12)}e${number}`
  space.start(['wireguard-go', '-f', tunnel], { logFile: `${agent.dir}/end${number}.log` })
  await until('the end of the tunnel', () => isAnswered(`/var/run/wireguard/${tunnel}.sock`))
  const { privateKey, publicKey } = createWireGuardKeys(randomBytes(32))
  const { key, preshared, address } = await readAgent(full)
  await space.must(
    ...(['sh', '-c'] as const),
    `printf %s '${privateKey}' | wg set ${tunnel} listen-port 51820 private-key /dev/stdin && ` +
      `printf %s '${preshared}' | wg set ${tunnel} peer '${key}' preshared-key /dev/stdin allowed-ips ${address}`,
  )
  await space.must('ip', 'addr', 'add', `10.64.255.${number}/32`, 'dev', tunnel)
  await space.must('ip', 'link', 'set', tunnel, 'mtu', '1420', 'up')
  await space.must('ip', 'route', 'add', '10.64.0.0/16', 'dev', tunnel)
  return { space, number, publicKey, host }
}

/** The agent's key, the one that it shares with edges, and its address. */
async function readAgent({ agent, lab }: FullInstallation) {
  const report = JSON.parse((await agent.run('status', '--json')).stdout)
  const { publicKey, peers } = parseWgDump(await lab.site.must('wg', 'show', report.interface, 'dump'))
  return { key: publicKey, preshared: peers[0]?.presharedKey ?? '', address: String(report.addresses[0]) }
}

function joinEdges(full: FullInstallation, ends: readonly End[]): void {
  const now = new Date().toISOString()
  inDatabase(full, (database) => {
    const insert = database.prepare(
      `INSERT INTO edges (name, number, host, token_hash, public_key, created_at, updated_at, joined_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    for (const { number, host, publicKey } of ends)
      insert.run(`end ${number}`, number, host, `none ${number}`, publicKey, now, now, now)
  })
}

function inDatabase(full: FullInstallation, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(full.installation.paths.database)
  database.exec('PRAGMA busy_timeout = 5000')
  work(database)
  database.close()
}

/** Each change of its node makes the agent read what the server wants. */
async function tellAgent({ installation, node }: FullInstallation, keepalive: number): Promise<void> {
  await installation.api.call('PATCH', `/api/nodes/${node.id}`, { keepalive })
}

async function untilOnline({ agent }: FullInstallation, count: number): Promise<void> {
  await until('all edges to be online', async () => {
    const { edges } = JSON.parse((await agent.run('status', '--json')).stdout)
    return edges.length === count && edges.every(({ state }: { state: string }) => state === 'online')
  })
}

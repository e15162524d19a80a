import type { HaproxyVitals } from '@postern/contract/edge/edge-messages'
import { findVitalsOf } from '@postern/host/processes/vitals'
import { listOwnAmong } from '../process/running.ts'
import { type HaproxySocket, HaproxySocketError } from './socket.ts'

/** What the HAProxy that runs says of itself, and the kernel of it. @returns undefined when none answers */
export async function findHaproxyVitals(
  socket: HaproxySocket,
  config: string,
): Promise<HaproxyVitals | undefined> {
  const answer = await socket.send('show info').catch((error: unknown) => {
    if (error instanceof HaproxySocketError) return undefined
    throw error
  })
  if (answer === undefined) return undefined
  const fields = new Map(
    [...answer.matchAll(/^(\w+): (.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
  // A HAProxy that was taken over may say anything, and the server takes no message that is not as agreed.
  const figure = (name: string) => {
    const value = Number(fields.get(name) ?? 0)
    return value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0
  }
  const pid = figure('Pid')
  const isOwn = (await listOwnAmong([pid], config)).length > 0
  return {
    version: (fields.get('Version') ?? '').slice(0, 100),
    process: (isOwn && (await findVitalsOf(pid))) || null,
    connections: figure('CurrConns'),
    mostConnections: figure('Maxconn'),
    connectionsTotal: figure('CumConns'),
    requestsTotal: figure('CumReq'),
    tlsConnections: figure('CurrSslConns'),
    tlsConnectionsTotal: figure('CumSslConns'),
    sessionRate: figure('SessRate'),
    poolBytes: figure('PoolAlloc_MB') * 1024 * 1024,
    idleRatio: figure('Idle_pct') / 100,
  }
}

import type { Measured } from './figures.ts'
import { measureAgentEdges } from './groups/agent-edges.ts'
import { measureChanges } from './groups/changes.ts'
import { startFullInstallation } from './groups/full-installation.ts'
import { startFullServers } from './groups/full-servers.ts'
import { measureLists } from './groups/lists.ts'
import { measureLog } from './groups/log.ts'
import { heldMegabytes, measureMemory } from './groups/memory.ts'
import { measureBesideNginx } from './groups/nginx.ts'
import { measureOrders } from './groups/orders.ts'
import { measureProxy } from './groups/proxy.ts'
import { measureRequests } from './groups/requests.ts'
import { measureFigures } from './groups/service-figures.ts'
import { measureSignIn } from './groups/sign-in.ts'
import { measureState } from './groups/state.ts'
import { measureStream } from './groups/stream.ts'
import { measureTransfers } from './groups/transfer.ts'
import type { Effort } from './sizes.ts'

/** One after the other: anything that runs during a measurement is measured with it. */
export async function measureAll(effort: Effort, say: (line: string) => void): Promise<Measured[]> {
  say('Filling two servers …')
  const inServers = await measureServers(effort, say)
  say('Starting an installation with a tunnel …')
  const inInstallation = await measureInstallation(effort, say)
  say('Keeping requests …')
  const requests = await measureRequests(effort)
  say('Ordering certificates …')
  return [...inServers, ...inInstallation, ...requests, ...(await measureOrders(effort))]
}

async function measureServers(effort: Effort, say: (line: string) => void): Promise<Measured[]> {
  const servers = await startFullServers()
  try {
    say('Reading lists …')
    const lists = await measureLists(servers, effort)
    say('Asking for the state …')
    const state = await measureState(servers, effort)
    say('Following figures …')
    const stream = await measureStream(servers, effort)
    say('Counting …')
    return [...lists, ...state, ...stream, ...(await measureFigures(servers, effort))]
  } finally {
    await servers.close()
  }
}

async function measureInstallation(effort: Effort, say: (line: string) => void): Promise<Measured[]> {
  const full = await startFullInstallation()
  try {
    const idle = heldMegabytes(full)
    say('Watching an agent …')
    const agent = await measureAgentEdges(full, effort)
    say('Changing routes …')
    const changes = await measureChanges(full, effort)
    say('Sending requests …')
    const requests = await measureProxy(full, effort)
    const besideNginx = await measureBesideNginx(full, effort)
    const log = await measureLog(full, effort)
    const signIn = await measureSignIn(full, effort)
    say('Sending bytes …')
    const transfers = await measureTransfers(full, effort)
    const memory = await measureMemory(full, idle)
    return [...changes, ...requests, ...besideNginx, ...log, ...signIn, ...transfers, memory, agent]
  } finally {
    await full.close()
  }
}

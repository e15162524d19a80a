import { endpoints } from '@postern/contract/endpoints/endpoints'
import { edgeToken, fetchState } from '@postern/testkit/edge-client'
import type { Measured } from '../figures.ts'
import { compareCosts, type Work } from '../measure.ts'
import type { Effort } from '../sizes.ts'
import type { FullServer, FullServers } from './full-servers.ts'

/** The server's work when an edge asks for the state: one route of many has changed, or nothing has. */
export async function measureState(servers: FullServers, { rounds }: Effort): Promise<Measured[]> {
  const [heavy, light] = [await asEdge(servers.heavy), await asEdge(servers.light)]
  const times = Math.ceil(rounds / 2)
  const changed = await compareCosts(times, { heavy: heavy.oneChanged, light: light.oneChanged })
  const idle = await compareCosts(times, { heavy: heavy.nothingChanged, light: light.nothingChanged })
  return [
    { name: 'state: one route changed', unit: 'ms', ...changed },
    { name: 'state: nothing changed', unit: 'ms', ...idle },
  ]
}

async function asEdge({ server, client, service }: FullServer) {
  const headers = { authorization: `Bearer ${edgeToken(server.context.config.paths)}` }
  let { hashes } = await fetchState(server)
  let port = 9000
  /** Leaves the answer as text: parsing is the edge's work. */
  const ask = async (hasRoutes: boolean) => {
    const { body } = await server.call({
      method: 'POST',
      url: endpoints.edgeState.path,
      headers,
      payload: { known: hashes },
    })
    if (body.includes('"routes":[{') !== hasRoutes) throw new Error(`unexpected state: ${body.slice(0, 200)}`)
  }
  const oneChanged: Work = {
    async prepare() {
      const path = `/api/services/${service.nodeId}/http/${service.id}`
      const answer = await client.patch(path, { backendPort: port++ })
      if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${answer.body}`)
    },
    run: () => ask(true),
  }
  const nothingChanged: Work = {
    async prepare() {
      // Only the difference: the garbage of a whole state would be collected during the measurement.
      hashes = (await fetchState(server, hashes)).hashes
    },
    run: () => ask(false),
  }
  return { oneChanged, nothingChanged }
}

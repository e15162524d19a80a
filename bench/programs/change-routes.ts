import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { type Answer, callApi } from '@postern/testkit/api'
import { until } from '@postern/testkit/until'
import * as z from 'zod/mini'

/**
 * Runs on the visitor's host, repeatedly: publishes a route, requests it until its program answers, moves it to
 * another path and requests that, removes it, and requests it until it is gone. Reads its order as JSON from standard
 * input and prints the times in ms as JSON. It reaches the API through the server's socket, which is a file and so
 * not bound to a host.
 */
const Order = z.object({
  socketPath: z.string(),
  token: z.string(),
  /** The public address. */
  address: z.string(),
  domain: z.string(),
  nodeId: z.number(),
  rounds: z.number(),
})

const order = Order.parse(JSON.parse(await text(process.stdin)))
const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
const created: number[] = []
const changed: number[] = []
for (let round = 0; round < order.rounds; round++) {
  const path = `/new-${round}`
  const published = performance.now()
  const service = `/api/services/${order.nodeId}/http/${await publish(path)}`
  await untilStatus(path, 200)
  created.push(performance.now() - published)
  const moved = performance.now()
  await call('PATCH', service, { pathLocation: `/moved-${round}` })
  await untilStatus(`/moved-${round}`, 200)
  changed.push(performance.now() - moved)
  await call('DELETE', service)
  await untilStatus(`/moved-${round}`, 404)
}
agent.destroy()
process.stdout.write(JSON.stringify({ created, changed }))

async function publish(path: string): Promise<number> {
  const { domain, nodeId } = order
  const form = { name: path, domain, pathLocation: path, backendPort: 8080, skipValidation: true }
  const { json } = await call('POST', `/api/services/${nodeId}/http`, form)
  return z.object({ id: z.number() }).parse(json).id
}

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await callApi(order.socketPath, order.token, method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer
}

async function untilStatus(path: string, status: number): Promise<void> {
  await until(`${path} to answer ${status}`, async () => (await ask(path)) === status, { everyMs: 1 })
}

function ask(path: string): Promise<number | undefined> {
  const { address, domain } = order
  return new Promise((resolve, reject) => {
    const options = {
      host: address,
      path,
      servername: domain,
      headers: { host: domain },
      agent,
      timeout: 5000,
    }
    const asking = request(options, (response) => {
      response.on('error', reject).on('end', () => resolve(response.statusCode))
      response.resume()
    })
    asking.on('timeout', () => asking.destroy(new Error('the public address did not answer')))
    asking.on('error', reject).end()
  })
}

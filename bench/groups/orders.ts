import type { Domain } from '@postern/contract/domains'
import type { Api } from '@postern/testkit/api'
import { startOrderingLab, timeChange } from '@postern/testkit/authority/ordering-lab'
import { until } from '@postern/testkit/until'
import type { Measured } from '../figures.ts'
import { median, slowest } from '../measure.ts'
import type { Effort } from '../sizes.ts'

const ALONE = 20
const BACKEND = { backendHost: '127.0.0.1', backendPort: 8080 }

/** Changes of one service while many certificates are ordered from a real authority, and while none is. */
export async function measureOrders({ orders }: Effort): Promise<Measured[]> {
  const { lab, installation, close } = await startOrderingLab()
  try {
    const { api } = installation
    const listen = `require('http').createServer((q, r) => r.end()).listen(${BACKEND.backendPort}, '127.0.0.1')`
    lab.server.start([process.execPath, '-e', listen], { logFile: '/dev/null' })
    const service = await api.publish(1, { name: 'app', domain: 'app.test', ...BACKEND })
    let changes = 0
    const change = () => timeChange(api, service, changes++)
    const alone: number[] = []
    while (alone.length < ALONE) alone.push(await change())
    const beside: number[] = []
    const ordering = order(api, orders)
    let isOver = false
    void ordering.finally(() => {
      isOver = true
    })
    while (!isOver) beside.push(await change())
    await ordering
    const quiet = { unit: 'ms', light: median(alone) }
    return [
      { name: 'orders: a change beside many', ...quiet, heavy: median(beside) },
      { name: 'orders: a change beside many, the slowest', ...quiet, heavy: slowest(beside) },
    ]
  } finally {
    await close()
  }
}

/** Until all have their certificates. */
async function order(api: Api, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const form = { domain: `many${index}.test`, ssl: 'certbot' }
    const { status, text } = await api.call('POST', '/api/domains', form)
    if (status !== 201) throw new Error(`no domain was made: ${status} ${text}`)
  }
  const isDone = async () => {
    const { json } = await api.call('GET', '/api/domains?search=many')
    // The contract's own answer to this call.
    return (json as Domain[]).every(({ certificate: { kind, step } }) => kind === 'certbot' && step === null)
  }
  await until('all to be signed', isDone, { timeoutMs: 600_000, everyMs: 1000 })
}

import { createHmac } from 'node:crypto'
import { haproxyCommand } from '@postern/testkit/haproxy'
import type { Installation } from '@postern/testkit/installation'
import { processorMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import type { Measured } from '../figures.ts'
import { median } from '../measure.ts'
import type { Effort } from '../sizes.ts'
import { type FullInstallation, LOAD_PATH } from './full-installation.ts'
import { sendLoad } from './proxy.ts'

const MANY = 32
/** How much processor time a session check may add to a request, in µs. */
const MAY_ADD = 100

/** One request, in µs. */
interface Cost {
  /** Many at a time. */
  processor: number
  /** The median when they come one at a time. */
  clock: number
}

/** A visitor with a session, compared with any visitor of the same route while it requires no sign-in. */
export async function measureSignIn(full: FullInstallation, effort: Effort): Promise<Measured[]> {
  const guard = await findGuard(full)
  await guard.set(true)
  const headers = [`Cookie: __Host-postern=${await makeSession(full)}`]
  const [signedIn, open]: [Cost[], Cost[]] = [[], []]
  for (let round = 0; round < effort.loads; round++) {
    await guard.set(true)
    signedIn.push(await costOf(full, effort, headers))
    await guard.set(false)
    open.push(await costOf(full, effort, []))
  }
  const pick = (costs: Cost[], key: keyof Cost) => median(costs.map((cost) => cost[key]))
  const added = Math.max(0, pick(signedIn, 'processor') - pick(open, 'processor'))
  const [heavy, light] = [pick(signedIn, 'clock'), pick(open, 'clock')]
  return [
    { name: 'sign-in: processor time that it adds', unit: 'µs', heavy: added, light: MAY_ADD },
    { name: 'sign-in: a request alone', unit: 'µs', heavy, light },
  ]
}

async function costOf({ lab, installation, domain }: FullInstallation, effort: Effort, headers: string[]) {
  const send = (connections: number) =>
    sendLoad(lab.visitor, `https://${lab.server.address}${LOAD_PATH}`, {
      ...{ connections, seconds: effort.loadSeconds, domain, headers },
    })
  const pid = installation.haproxyPid()
  const before = processorMs(pid)
  const { requests } = await send(MANY)
  const processor = ((processorMs(pid) - before) * 1000) / requests
  return { processor, clock: (await send(1)).middle }
}

/** Sets whether the route requires sign-in. */
async function findGuard({ installation, lab, domain }: FullInstallation) {
  const { api } = installation
  const list = async <T>(path: string) => (await api.call('GET', path)).json as T[]
  const services = await list<{ id: number; nodeId: number; pathLocation: string }>(
    `/api/services/http?domain=${domain}`,
  )
  const service = services.find(({ pathLocation }) => pathLocation === LOAD_PATH)
  const [found] = await list<{ id: number }>(`/api/domains?search=${domain}`)
  const form = { authentication: true, allowedEmails: ['ann@example.com'] }
  await api.call('PATCH', `/api/domains/${found?.id}`, form)
  const target = ['--resolve', `${domain}:443:${lab.server.address}`, `https://${domain}${LOAD_PATH}`]
  return {
    async set(requireAuth: boolean) {
      await api.call('PATCH', `/api/services/${service?.nodeId}/http/${service?.id}`, { requireAuth })
      await until(`the route ${requireAuth ? 'to ask' : 'to be open'}`, async () => {
        const status = await lab.visitor.must(
          'curl',
          '-sk',
          '-o',
          '/dev/null',
          '-w',
          '%{http_code}',
          ...target,
        )
        return status === (requireAuth ? '401' : '200')
      })
    },
  }
}

/** As the server makes it, with HAProxy's key. */
async function makeSession({ installation }: FullInstallation): Promise<string> {
  const [, head = '', secret = ''] = await findLine(installation, / k(\S+) (\S+)/)
  const [, member = ''] = await findLine(installation, / m(\d+) /)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 12 * 3600
  // The service's identity is as long.
  const claims = { member, email: 'ann@example.com', exp, identity: 'x'.repeat(500) }
  const text = `${head}.${part(claims)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

async function findLine(installation: Installation, pattern: RegExp): Promise<string[]> {
  const map = await haproxyCommand(installation, `show map ${installation.paths.haproxyDir}/sign-in.map`)
  return [...(pattern.exec(map) ?? [])]
}

import type { HttpService } from '@postern/contract/services/services'
import type { Installation } from './installation.ts'
import type { Lab } from './lab/network.ts'
import { until } from './until.ts'
import { visit } from './visitor.ts'

/** The local node exists from the first start. */
export const LOCAL_NODE = 1

/** Publishes services `<prefix>1.example.com` … of the local node, all leading to `port` on the server's host. */
export function publishLocal(installation: Installation, prefix: string, count: number, port: number) {
  const names = Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)
  return Promise.all(
    names.map((name) =>
      installation.api.publish(LOCAL_NODE, {
        name,
        domain: `${name}.example.com`,
        backendHost: '127.0.0.1',
        backendPort: port,
      }),
    ),
  )
}

/** Waits until every service answers a visitor with 200. @returns how long it took, in ms */
export async function untilAllAnswer(
  lab: Lab,
  services: readonly HttpService[],
  timeoutMs = 60_000,
): Promise<number> {
  const start = performance.now()
  for (const { domain } of services) {
    const url = `https://${domain}/`
    await until(`${url} to answer`, async () => (await visit(lab.visitor, url)).status === 200, { timeoutMs })
  }
  return performance.now() - start
}

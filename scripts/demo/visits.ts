import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '@postern/host/exec'

/** A command line that shows a published service, and what its answer must hold. */
export interface Visit {
  title: string
  args: string[]
  expected: RegExp
}

export function listVisits(httpsPort: number, domains: { metrics: string; mqtt: string }): Visit[] {
  const to = (domain: string) => ['--resolve', `${domain}:${httpsPort}:127.0.0.1`]
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const key = ['Sec-WebSocket-Key: cG9zdGVybi1kZW1vLWtleQ==', 'Sec-WebSocket-Protocol: mqtt']
  const headers = [...upgrade, ...key].flatMap((header) => ['-H', header])
  const once = ['--http1.1', '-m', '2']
  return [
    {
      title: 'the figures of the private host, from prometheus-node-exporter',
      args: ['-sk', ...to(domains.metrics), `https://${domains.metrics}:${httpsPort}/metrics`],
      expected: /^node_cpu_seconds_total/m,
    },
    {
      title: 'a WebSocket to mosquitto on the private host (101 Switching Protocols)',
      args: ['-ski', ...once, ...headers, ...to(domains.mqtt), `https://${domains.mqtt}:${httpsPort}/mqtt`],
      expected: /^HTTP\/1\.1 101 /,
    },
  ]
}

export function renderVisit({ title, args }: Visit): string {
  const words = args.map((arg) => (/^[\w:/.=-]+$/.test(arg) ? arg : `'${arg}'`))
  return `  # ${title}\n  curl ${words.join(' ')}\n`
}

/** @returns undefined when the right answer comes within some seconds, else the start of what came instead */
export async function findFault({ args, expected }: Visit): Promise<string | undefined> {
  const deadline = performance.now() + 10_000
  for (;;) {
    // curl ends an upgraded connection with its time limit, so the answer counts, not the exit code.
    const { stdout, stderr } = await run('curl', args, { timeoutMs: 15_000 })
    if (expected.test(stdout)) return undefined
    if (performance.now() > deadline) return `${stdout}${stderr}`.trim().slice(0, 200) || 'no answer'
    await sleep(200)
  }
}

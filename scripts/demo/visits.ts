import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '@postern/host/processes/exec'

/** A command line that shows a published service, and what its answer must hold. */
export interface Visit {
  title: string
  program: 'curl' | 'mosquitto_pub' | 'dig'
  args: string[]
  expected: RegExp
}

/** The addresses of the demonstration's services. */
export interface Published {
  httpsPort: number
  domains: { metrics: string; mqtt: string }
  /** TLS with the installation's certificate, of the authority in the file. */
  broker: { host: string; port: number; authority: string }
  names: { host: string; port: number; known: { name: string; address: string } }
}

export function listVisits({ httpsPort, domains, broker, names }: Published): Visit[] {
  const to = (domain: string) => ['--resolve', `${domain}:${httpsPort}:127.0.0.1`]
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const key = ['Sec-WebSocket-Key: cG9zdGVybi1kZW1vLWtleQ==', 'Sec-WebSocket-Protocol: mqtt']
  const headers = [...upgrade, ...key].flatMap((header) => ['-H', header])
  const once = ['--http1.1', '-m', '2']
  return [
    {
      title: 'the figures of the private host, from prometheus-node-exporter',
      program: 'curl',
      args: ['-sk', ...to(domains.metrics), `https://${domains.metrics}:${httpsPort}/metrics`],
      expected: /^node_cpu_seconds_total/m,
    },
    {
      title: 'a WebSocket to mosquitto on the private host (101 Switching Protocols)',
      program: 'curl',
      args: ['-ski', ...once, ...headers, ...to(domains.mqtt), `https://${domains.mqtt}:${httpsPort}/mqtt`],
      expected: /^HTTP\/1\.1 101 /,
    },
    {
      title: 'a message to mosquitto over TLS, which ends at the server (CONNACK 0)',
      program: 'mosquitto_pub',
      args: [
        ...['-d', '-h', broker.host, '-p', String(broker.port), '--cafile', broker.authority],
        ...['-t', 'demo', '-m', 'hello'],
      ],
      expected: /CONNACK \(0\)/,
    },
    {
      title: 'a question over UDP to the name server of the private host',
      program: 'dig',
      args: [`@${names.host}`, '-p', String(names.port), '+short', '+tries=1', '+time=2', names.known.name],
      expected: new RegExp(`^${names.known.address}$`, 'm'),
    },
  ]
}

export function renderVisit({ title, program, args }: Visit): string {
  const words = args.map((arg) => (/^[\w:/.=@+-]+$/.test(arg) ? arg : `'${arg}'`))
  return `  # ${title}\n  ${program} ${words.join(' ')}\n`
}

/** @returns undefined when the right answer arrives within some seconds, else the start of what arrived instead */
export async function findFault({ program, args, expected }: Visit): Promise<string | undefined> {
  const deadline = performance.now() + 10_000
  for (;;) {
    // curl runs into its time limit on an upgraded connection, so the answer counts, not the exit code.
    const { stdout, stderr } = await run(program, args, { timeoutMs: 15_000 })
    if (expected.test(stdout)) return undefined
    if (performance.now() > deadline) return `${stdout}${stderr}`.trim().slice(0, 200) || 'no answer'
    await sleep(200)
  }
}

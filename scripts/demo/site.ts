import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExec, must, run } from '@postern/host/processes/exec'

/**
 * The private site: a network namespace with one cable to this machine, unreachable from anywhere else. The addresses
 * are from the range reserved for examples.
 */
const NAMESPACE = 'postern-demo'
const CABLE = { here: 'postern-demo-h', there: 'postern-demo-s' }
export const HERE = '198.51.100.1'
const THERE = '198.51.100.2'
export const PORTS = { metrics: 9100, mqtt: 9001, broker: 1883, names: 5353 }
/** What the site's name server knows. */
export const KNOWN_NAME = { name: 'printer.demo.example', address: '192.0.2.7' }

export const inSite = (...argv: string[]) => ['ip', 'netns', 'exec', NAMESPACE, ...argv]

export async function makeSite(): Promise<void> {
  const inside = ['-n', NAMESPACE]
  const peer = ['peer', 'name', CABLE.there, 'netns', NAMESPACE]
  for (const args of [
    ['netns', 'add', NAMESPACE],
    ['link', 'add', CABLE.here, 'type', 'veth', ...peer],
    ['addr', 'add', `${HERE}/30`, 'dev', CABLE.here],
    ['link', 'set', CABLE.here, 'up'],
    [...inside, 'link', 'set', 'lo', 'up'],
    [...inside, 'addr', 'add', `${THERE}/30`, 'dev', CABLE.there],
    [...inside, 'link', 'set', CABLE.there, 'up'],
    [...inside, 'route', 'add', 'default', 'via', HERE],
  ])
    await must('ip', args)
}

/** Three of Debian's programs that know nothing of Postern. */
export async function startSitePrograms(dir: string): Promise<void> {
  const configuration = join(dir, 'mosquitto.conf')
  const listeners = [`listener ${PORTS.broker}`, `listener ${PORTS.mqtt}`, 'protocol websockets']
  writeFileSync(configuration, `${['user root', 'allow_anonymous true', ...listeners].join('\n')}\n`)
  await startInSite('mosquitto', ['-c', configuration], join(dir, 'mosquitto.log'))
  const address = `--web.listen-address=:${PORTS.metrics}`
  await startInSite('prometheus-node-exporter', [address], join(dir, 'exporter.log'))
  const { name, address: known } = KNOWN_NAME
  const names = [
    '--no-resolv',
    '--no-hosts',
    '--no-daemon',
    `--port=${PORTS.names}`,
    `--address=/${name}/${known}`,
  ]
  await startInSite('dnsmasq', ['--conf-file=/dev/null', ...names], join(dir, 'dnsmasq.log'))
}

/** The program runs until `removeSite`. */
async function startInSite(program: string, args: readonly string[], log: string): Promise<void> {
  await createExec(inSite()).startDetached(program, args, { stdoutFile: log, stderrFile: log })
}

/** Ends everything that runs in the site and removes it. Does nothing when there is none. */
export async function removeSite(): Promise<void> {
  const { stdout } = await run('ip', ['netns', 'pids', NAMESPACE])
  for (const pid of stdout.split('\n').filter(Boolean)) await run('kill', ['-9', pid])
  await run('ip', ['netns', 'del', NAMESPACE])
  await run('ip', ['link', 'del', CABLE.here])
}

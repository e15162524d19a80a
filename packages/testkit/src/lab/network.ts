import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { must, run, type StartOptions, start } from '../exec.ts'

/**
 * Hosts of a test: network namespaces that the test made itself, on a switch of their own.
 *
 *   server 203.0.113.1 ──┬── visitor 203.0.113.100
 *                        ├── site    203.0.113.10 ── lan 192.168.7.20
 *                        └── site2   203.0.113.11
 *
 * The names carry the pid of the test, so that a later run can sweep what a killed one left behind.
 */
export interface Host {
  name: string
  address: string
  address6: string
  /** The argv that runs a program on this host. */
  argv(...command: string[]): string[]
  run(...command: string[]): ReturnType<typeof run>
  must(...command: string[]): Promise<string>
  start(command: string[], options: StartOptions): ReturnType<typeof start>
}

export interface Lab {
  id: string
  server: Host
  visitor: Host
  site: Host
  site2: Host
  /** A host that only `site` reaches. */
  lan: Host
  close(): Promise<void>
}

const PREFIX = 'pt'
let labs = 0

export async function startLab(): Promise<Lab> {
  if (process.getuid?.() !== 0) throw new Error('the network lab needs root: run these tests as root')
  await sweep()
  const id = `${PREFIX}${process.pid.toString(36)}x${labs++}`
  const host = (role: string, octet: number) =>
    makeHost(`${id}-${role}`, `203.0.113.${octet}`, `2001:db8::${octet}`)
  const server = host('srv', 1)
  const visitor = host('vis', 100)
  const site = host('site', 10)
  const site2 = host('site2', 11)
  const lan = makeHost(`${id}-lan`, '192.168.7.20', 'fd77::20')
  const all = [server, visitor, site, site2, lan]
  writeHosts(server.name)
  for (const each of all) await addNamespace(each.name)
  await server.must('ip', 'link', 'add', 'br0', 'type', 'bridge')
  await setAddress(server, 'br0')
  for (const each of [visitor, site, site2]) await plugIn(server, each)
  await connectLan(site, lan)
  return { id, server, visitor, site, site2, lan, close: () => remove(all.map((each) => each.name)) }
}

function makeHost(name: string, address: string, address6: string): Host {
  const argv = (...command: string[]) => ['ip', 'netns', 'exec', name, ...command]
  return {
    name,
    address,
    address6,
    argv,
    run: (...command) => run(argv(...command)),
    must: (...command) => must(argv(...command)),
    start: (command, options) => start(argv(...command), options),
  }
}

/** A name of the server's host that leads to itself, as only a resolver can tell; `ip netns exec` mounts the file. */
export const SNEAKY_NAME = 'sneaky.test'

function writeHosts(name: string): void {
  mkdirSync(`/etc/netns/${name}`, { recursive: true })
  writeFileSync(`/etc/netns/${name}/hosts`, `127.0.0.1 localhost\n127.0.0.1 ${SNEAKY_NAME}\n`)
}

async function addNamespace(name: string): Promise<void> {
  await must(['ip', 'netns', 'add', name])
  await must(['ip', '-n', name, 'link', 'set', 'lo', 'up'])
}

async function setAddress(host: Host, device: string): Promise<void> {
  await host.must('ip', 'addr', 'add', `${host.address}/24`, 'dev', device)
  await host.must('ip', 'addr', 'add', `${host.address6}/64`, 'dev', device, 'nodad')
  await host.must('ip', 'link', 'set', device, 'up')
}

async function plugIn(server: Host, host: Host): Promise<void> {
  const port = `p${host.address.split('.')[3]}`
  await must([
    'ip',
    '-n',
    server.name,
    'link',
    'add',
    port,
    'type',
    'veth',
    'peer',
    'name',
    'eth0',
    'netns',
    host.name,
  ])
  await server.must('ip', 'link', 'set', port, 'master', 'br0', 'up')
  await setAddress(host, 'eth0')
  await host.must('ip', 'route', 'add', 'default', 'via', server.address)
}

async function connectLan(site: Host, lan: Host): Promise<void> {
  await must([
    'ip',
    '-n',
    site.name,
    'link',
    'add',
    'eth1',
    'type',
    'veth',
    'peer',
    'name',
    'eth0',
    'netns',
    lan.name,
  ])
  await site.must('ip', 'addr', 'add', '192.168.7.1/24', 'dev', 'eth1')
  await site.must('ip', 'link', 'set', 'eth1', 'up')
  await setAddress(lan, 'eth0')
}

/** Ends what still runs in the namespaces, then removes them. Programs that outlive their starter are among it. */
async function remove(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { stdout } = await run(['ip', 'netns', 'pids', name])
    for (const pid of stdout.split('\n').filter(Boolean)) endProcess(Number(pid))
  }
  for (const name of names) {
    await run(['ip', 'netns', 'del', name])
    rmSync(`/etc/netns/${name}`, { recursive: true, force: true })
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Removes the labs of test processes that are gone. */
async function sweep(): Promise<void> {
  const { stdout } = await run(['ip', 'netns', 'list'])
  const names = stdout.split('\n').map((line) => line.split(' ')[0] ?? '')
  const stale = names.filter((name) => {
    const pid = new RegExp(`^${PREFIX}([0-9a-z]+)x\\d+-`).exec(name)?.[1]
    return pid !== undefined && !existsSync(`/proc/${Number.parseInt(pid, 36)}`)
  })
  await remove(stale)
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { addNamespace, beginLab, connect, type Namespace } from '@postern/testkit/lab/namespace'
import { run } from '@postern/testkit/processes/exec'
import { getHolder } from '@postern/testkit/processes/holder'
import { readProcessFile } from '@postern/testkit/processes/process-file'
import { createAuthority } from './authority.ts'
import { startEdgeEnd } from './edge-end.ts'

const AGENT = fileURLToPath(new URL('../../../apps/agent/src/main.ts', import.meta.url))
const NAME_SERVER = fileURLToPath(new URL('name-server.ts', import.meta.url))
const RESOLVE = fileURLToPath(new URL('resolve.ts', import.meta.url))

const ETC = {
  hosts: '127.0.0.1 localhost\n203.0.113.1 edge.example\n',
  'resolv.conf': 'nameserver 203.0.113.1\noptions timeout:1 attempts:1\n',
}

/** Each test changes what the server wants; tests/net/agent/policy.test.ts is about nodes that allow less. */
const WILLING = ['--gateway=private', '--all-traffic', '--dns']

/** Two machines on one wire: `edge` (203.0.113.1, with the server) and `node` (203.0.113.2, where agents run). */
export async function createLab() {
  const id = await beginLab()
  const directory = mkdtempSync(`${tmpdir()}/${id}-`)
  const configDir = `${directory}/agent`
  const links = { edge: `${id}e`, agent: `${id}a`, wire: 'wire0' }
  const edge = await addNamespace(`${id}-edge`, ETC)
  const node = await addNamespace(`${id}-node`, ETC)
  await connect(edge, links.wire, node, links.wire)
  await edge.must('ip', 'addr', 'add', '203.0.113.1/24', 'dev', links.wire)
  await node.must('ip', 'addr', 'add', '203.0.113.2/24', 'dev', links.wire)
  const authority = await createAuthority(directory)
  const end = await startEdgeEnd(edge, directory, links.edge)

  const runAgent = (program: readonly string[]) => (args: readonly string[], input?: string) =>
    run(node.argv(...program, ...args, '--config-dir', configDir), { input, timeoutMs: 60_000 })
  const agent = runAgent([process.execPath, AGENT])

  return {
    ...end,
    id,
    directory,
    configDir,
    links,
    edge,
    node,
    authority,
    agent,
    /** The same agent, run by another program such as the bundle. */
    runAgent,
    connect: (...args: string[]) =>
      agent(['connect', '--url', 'https://203.0.113.1', '--interface', links.agent, ...WILLING, ...args]),
    async status(...args: string[]) {
      const { code, stdout } = await agent(['status', '--json', ...args])
      return { code, report: JSON.parse(stdout) }
    },
    daemonPid: () => getHolder(`${configDir}/run/agent.pid`).pid,
    /** The command that a service manager would start after a reboot. */
    startDaemon(...options: string[]) {
      const command = [process.execPath, ...options, AGENT, 'run', '--config-dir', configDir]
      return node.start(command, { logFile: `${directory}/daemon.log` })
    },
    /** The command lines of the node's processes. */
    async programs() {
      const commands = (await node.listPids()).map((pid) => readProcessFile(pid, 'cmdline'))
      return commands.filter(Boolean).map((command) => command.replaceAll('\0', ' '))
    },
    async close() {
      await agent(['disconnect', '--forget'])
      await end.stopServer()
      await Promise.all([edge.remove(), node.remove()])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
export type Lab = Awaited<ReturnType<typeof createLab>>

export async function isReachable(from: Namespace, address: string): Promise<boolean> {
  return (await from.run('fping', '-c1', '-t1000', address)).code === 0
}

/** Starts a name server on the host. */
export function startNameServer(host: Namespace, address: string, directory: string): void {
  host.start([process.execPath, NAME_SERVER, address], { logFile: `${directory}/name-server.log` })
}

/** @returns the address, or the code of the failure. */
export async function resolve(from: Namespace, nameServer: string, name: string, source = '') {
  return (await from.must(process.execPath, RESOLVE, nameServer, name, source)).trim()
}

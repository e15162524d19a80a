import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { AgentConfig } from '@postern/contract/agent'
import { createAuthority } from './authority.ts'
import type { EdgeServerState, FromEdgeServer, ToEdgeServer } from './edge-server.ts'

const execute = promisify(execFile)
const AGENT = fileURLToPath(new URL('../../../apps/agent/src/main.ts', import.meta.url))
const NAME_SERVER = fileURLToPath(new URL('name-server.ts', import.meta.url))
const RESOLVE = fileURLToPath(new URL('resolve.ts', import.meta.url))
const SERVER = fileURLToPath(new URL('edge-server.ts', import.meta.url))

export const TOKEN = 'pn_lab-token-1234567890'

export interface Outcome {
  code: number
  stdout: string
  stderr: string
}

export async function execOutcome(program: string, args: readonly string[], input = ''): Promise<Outcome> {
  const running = execute(program, args, { timeout: 60_000 })
  // A program that ends without reading its input is judged by its exit code.
  running.child.stdin?.on('error', () => undefined)
  running.child.stdin?.end(input)
  return await running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error) => ({ code: Number(error.code ?? 1), stdout: error.stdout, stderr: error.stderr }),
  )
}

async function must(program: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await execOutcome(program, args)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
  return stdout
}

export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  ms = 15_000,
): Promise<T> {
  const deadline = Date.now() + ms
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`waited in vain for: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Two machines on one wire: `edge` (203.0.113.1, with the server) and `node` (203.0.113.2, where agents run). */
export async function createLab() {
  const id = `pa${randomBytes(3).toString('hex')}`
  const directory = mkdtempSync(`${tmpdir()}/${id}-`)
  const spaces = { edge: `${id}-edge`, node: `${id}-node`, host: `${id}-host` }
  const links = { edge: `${id}e`, agent: `${id}a`, wireEdge: `${id}we`, wireNode: `${id}wn` }
  const configDir = `${directory}/agent`
  const inside = (space: keyof typeof spaces, ...args: string[]) =>
    must('ip', 'netns', 'exec', spaces[space], ...args)
  const tryInside = (space: keyof typeof spaces, ...args: string[]) =>
    execOutcome('ip', ['netns', 'exec', spaces[space], ...args])

  for (const space of Object.values(spaces)) {
    mkdirSync(`/etc/netns/${space}`, { recursive: true })
    writeFileSync(`/etc/netns/${space}/hosts`, '127.0.0.1 localhost\n203.0.113.1 edge.example\n')
    writeFileSync(`/etc/netns/${space}/resolv.conf`, 'nameserver 203.0.113.1\noptions timeout:1 attempts:1\n')
    await must('ip', 'netns', 'add', space)
    await must('ip', '-n', space, 'link', 'set', 'lo', 'up')
  }
  await must(
    'ip',
    'link',
    'add',
    links.wireEdge,
    'netns',
    spaces.edge,
    'type',
    'veth',
    'peer',
    links.wireNode,
    'netns',
    spaces.node,
  )
  await must('ip', '-n', spaces.edge, 'addr', 'add', '203.0.113.1/24', 'dev', links.wireEdge)
  await must('ip', '-n', spaces.node, 'addr', 'add', '203.0.113.2/24', 'dev', links.wireNode)
  await must('ip', '-n', spaces.edge, 'link', 'set', links.wireEdge, 'up')
  await must('ip', '-n', spaces.node, 'link', 'set', links.wireNode, 'up')

  const authority = await createAuthority(directory)
  const edgeKey = (await must('wg', 'genkey')).trim()
  const { stdout: edgePublic } = await execOutcome('wg', ['pubkey'], `${edgeKey}\n`)
  const presharedKey = (await must('wg', 'genpsk')).trim()
  writeFileSync(`${directory}/edge.key`, edgeKey, { mode: 0o600 })
  spawn('ip', ['netns', 'exec', spaces.edge, 'wireguard-go', links.edge], { stdio: 'ignore' })
  await waitFor(
    'the edge interface',
    async () => (await tryInside('edge', 'wg', 'show', links.edge)).code === 0,
  )
  await inside(
    'edge',
    'wg',
    'set',
    links.edge,
    'listen-port',
    '51820',
    'private-key',
    `${directory}/edge.key`,
  )
  await inside('edge', 'ip', 'addr', 'add', '10.64.0.1/16', 'dev', links.edge)
  await inside('edge', 'ip', '-6', 'addr', 'add', 'fd64::1/64', 'dev', links.edge)
  await inside('edge', 'ip', 'link', 'set', links.edge, 'mtu', '1420', 'up')
  await inside('edge', 'ip', 'route', 'add', '192.168.77.0/24', 'dev', links.edge)

  const config: AgentConfig = {
    node: { id: 2, name: 'office', enabled: true },
    addresses: ['10.64.0.2/32', 'fd64::2/128'],
    dns: [],
    publicKey: null,
    gateway: null,
    peer: {
      publicKey: edgePublic.trim(),
      presharedKey,
      endpoint: '203.0.113.1:51820',
      allowedIps: ['10.64.0.0/16', 'fd64::/64'],
      keepaliveSeconds: 25,
    },
    edgeAddress: '10.64.0.1',
  }
  let state: EdgeServerState = { token: TOKEN, config, refusal: null }
  let server: ChildProcess | undefined
  const calls: Extract<FromEdgeServer, { type: 'call' }>[] = []

  async function startServer(): Promise<void> {
    const child = spawn(
      'ip',
      ['netns', 'exec', spaces.edge, process.execPath, SERVER, directory, links.edge],
      { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
    )
    server = child
    child.on('message', (message: FromEdgeServer) => {
      if (message.type === 'call') calls.push(message)
    })
    await heard('ready')
    await tell({ type: 'state', state })
  }

  function heard(type: FromEdgeServer['type']): Promise<FromEdgeServer> {
    return new Promise((resolve) => {
      const listen = (message: FromEdgeServer) => {
        if (message.type !== type) return
        server?.off('message', listen)
        resolve(message)
      }
      server?.on('message', listen)
    })
  }

  async function tell(message: ToEdgeServer): Promise<number> {
    const done = heard('done')
    server?.send(message)
    const answer = await done
    return answer.type === 'done' ? answer.sockets : 0
  }

  async function stopServer(): Promise<void> {
    const child = server
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  await startServer()
  const runAgent = (program: readonly string[]) => (args: readonly string[], input?: string) =>
    execOutcome('ip', ['netns', 'exec', spaces.node, ...program, ...args, '--config-dir', configDir], input)
  const agent = runAgent([process.execPath, AGENT])

  return {
    directory,
    configDir,
    links,
    spaces,
    calls,
    authority,
    inside,
    tryInside,
    startServer,
    stopServer,
    tell,
    agent,
    /** The same agent by another program, such as the bundle. */
    runAgent,
    connect: (...args: string[]) =>
      agent(['connect', '--url', 'https://203.0.113.1', '--interface', links.agent, ...args]),
    config: () => state.config,
    /** Changes what the server answers; agents hear of it only with a hint. */
    async change(changes: Partial<Omit<EdgeServerState, 'config'>> & { config?: Partial<AgentConfig> }) {
      state = { ...state, ...changes, config: { ...state.config, ...changes.config } }
      await tell({ type: 'state', state })
    },
    async status(...args: string[]) {
      const { code, stdout } = await agent(['status', '--json', ...args])
      return { code, report: JSON.parse(stdout) }
    },
    daemonPid: () => Number(JSON.parse(readFileSync(`${configDir}/run/agent.pid`, 'utf8')).pid),
    async isReachable(space: keyof typeof spaces, address: string) {
      return (await tryInside(space, 'fping', '-c1', '-t1000', address)).code === 0
    },
    /** What a service manager would start after a reboot. */
    startDaemon() {
      const args = ['netns', 'exec', spaces.node, process.execPath, AGENT, 'run', '--config-dir', configDir]
      spawn('ip', args, { stdio: 'ignore' })
    },
    startNameServer(space: keyof typeof spaces, address: string) {
      spawn('ip', ['netns', 'exec', spaces[space], process.execPath, NAME_SERVER, address], {
        stdio: 'inherit',
      })
    },
    /** @returns the address, or the code of the failure. */
    async resolve(space: keyof typeof spaces, nameServer: string, name: string, ...from: string[]) {
      return (await inside(space, process.execPath, RESOLVE, nameServer, name, ...from)).trim()
    },
    /** The command lines of what runs on the node. */
    async programs() {
      const { stdout } = await execOutcome('ip', ['netns', 'pids', spaces.node])
      const files = stdout
        .split('\n')
        .filter(Boolean)
        .map((pid) => `/proc/${pid}/cmdline`)
      return files.flatMap((file) =>
        existsSync(file) ? [readFileSync(file, 'utf8').replaceAll('\0', ' ')] : [],
      )
    },
    async dispose() {
      await agent(['disconnect', '--forget'])
      await stopServer()
      for (const space of Object.values(spaces)) {
        const pids = (await execOutcome('ip', ['netns', 'pids', space])).stdout.split('\n').filter(Boolean)
        for (const pid of pids) process.kill(Number(pid), 'SIGKILL')
        await execOutcome('ip', ['netns', 'del', space])
        rmSync(`/etc/netns/${space}`, { recursive: true, force: true })
      }
      for (const link of [links.edge, links.agent]) rmSync(`/var/run/wireguard/${link}.sock`, { force: true })
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
export type Lab = Awaited<ReturnType<typeof createLab>>

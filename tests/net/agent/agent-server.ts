import { type ChildProcess, spawn } from 'node:child_process'
import { on, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AgentConfig } from '@postern/contract/agent/agent'
import type { FakeNode } from '@postern/testkit/fakes/fake-agent-server'
import type { Namespace } from '@postern/testkit/lab/namespace'
import type { FromEdgeServer, ToEdgeServer } from './edge-server.ts'

const SERVER = fileURLToPath(new URL('edge-server.ts', import.meta.url))

export const TOKEN = 'pn_lab-token-1234567890'

interface Options {
  /** The tunnel that gets the registered key; default: none. */
  link?: string
  port?: number
}

/**
 * The server's endpoints for one node, in a namespace, as set by a test.
 * @param directory with the certificate of `createAuthority`
 */
export async function startAgentServer(
  space: Namespace,
  directory: string,
  config: AgentConfig,
  { link = '', port = 443 }: Options = {},
) {
  let node: FakeNode = { token: TOKEN, config, isRevoked: false }
  let server: ChildProcess | undefined
  const calls: Extract<FromEdgeServer, { type: 'call' }>[] = []

  async function startServer(): Promise<void> {
    const [program = '', ...args] = space.argv(process.execPath, SERVER, directory, link, String(port))
    server = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    server.on('message', (message: FromEdgeServer) => {
      if (message.type === 'call') calls.push(message)
    })
    await heard(server, 'ready')
    await tell({ type: 'node', node })
  }

  /** @returns how many agents are connected */
  async function tell(message: ToEdgeServer): Promise<number> {
    if (!server) throw new Error('the server does not run')
    const done = heard(server, 'done')
    server.send(message)
    return (await done).sockets
  }

  await startServer()
  return {
    calls,
    startServer,
    tell,
    config: () => node.config,
    /** Changes what the server answers; agents hear of it only with a hint. */
    async change(changes: Partial<Omit<FakeNode, 'config'>> & { config?: Partial<AgentConfig> }) {
      node = { ...node, ...changes, config: { ...node.config, ...changes.config } }
      await tell({ type: 'node', node })
    },
    async stopServer() {
      if (server?.kill('SIGKILL')) await once(server, 'exit')
    },
  }
}

async function heard<T extends FromEdgeServer['type']>(server: ChildProcess, type: T) {
  // Over IPC comes only what edge-server.ts sends.
  for await (const [message] of on(server, 'message') as AsyncIterable<[FromEdgeServer]>)
    if (message.type === type) return message as Extract<FromEdgeServer, { type: T }>
  throw new Error('the server has ended')
}

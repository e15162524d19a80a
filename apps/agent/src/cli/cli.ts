import { messageOf } from '@postern/host/errors'
import { AgentError, EXIT_CODES, exitCodeOf } from '../errors.ts'
import type { Command, Context } from './command.ts'
import { connect } from './connect.ts'
import { disconnect } from './disconnect.ts'
import { run } from './run.ts'
import { status } from './status.ts'
import { why } from './why.ts'

const OF_NODES: Readonly<Record<string, Command>> = { connect, disconnect, status, why, run }

/** Their parts are read when they are used, so that the agent does not start later for them. */
const OF_OPERATORS: Readonly<Record<string, () => Promise<Command>>> = {
  login: async () => (await import('./login.ts')).login,
  logout: async () => (await import('./login.ts')).logout,
  ls: async () => (await import('./ls.ts')).ls,
  http: async () => (await import('./publish.ts')).http,
  tcp: async () => (await import('./publish.ts')).tcp,
  udp: async () => (await import('./publish.ts')).udp,
  edit: async () => (await import('./edit.ts')).edit,
  rm: async () => (await import('./edit.ts')).rm,
  enable: async () => (await import('./edit.ts')).enable,
  disable: async () => (await import('./edit.ts')).disable,
  logs: async () => (await import('./logs.ts')).logs,
  share: async () => (await import('./share.ts')).share,
  apply: async () => (await import('./apply.ts')).apply,
  diff: async () => (await import('./apply.ts')).diff,
  export: async () => (await import('./apply.ts')).export,
  completion: async () => (await import('./completion/completion.ts')).defineCompletion(loadAll),
}

async function loadOperators(): Promise<Record<string, Command>> {
  const loaded = Object.entries(OF_OPERATORS).map(async ([name, load]) => [name, await load()] as const)
  return Object.fromEntries(await Promise.all(loaded))
}

async function loadAll(): Promise<Record<string, Command>> {
  return { ...OF_NODES, ...(await loadOperators()) }
}

async function findCommand(name: string | undefined): Promise<Command | undefined> {
  if (name === undefined) return undefined
  if (Object.hasOwn(OF_NODES, name)) return OF_NODES[name]
  return Object.hasOwn(OF_OPERATORS, name) ? await OF_OPERATORS[name]?.() : undefined
}

/** Runs one command line (without program and file). @returns the exit code. */
export async function runCli(context: Context, args: readonly string[]): Promise<number> {
  const json = args.includes('--json')
  try {
    return exitCodeOf(await dispatch(context, args))
  } catch (error) {
    const code = error instanceof AgentError ? error.code : 'failed'
    const message = messageOf(error)
    if (json) context.io.out(JSON.stringify({ error: { code, message } }))
    else context.io.err(`postern: ${message}`)
    return exitCodeOf(code)
  }
}

async function dispatch(context: Context, args: readonly string[]) {
  const [name, ...rest] = args
  // For the scripts of shells alone: in no help, and its words may be any command line.
  if (name === 'complete')
    return await (await import('./completion/complete.ts')).complete(context, rest, await loadAll())
  const command = await findCommand(name)
  if (command) {
    if (!rest.includes('--help') && !rest.includes('-h')) return await command.execute(context, rest)
    context.io.out(command.help)
    return 'ok'
  }
  if (name === '--version' || name === '-V') context.io.out(context.version)
  else if (name === '--help' || name === '-h') context.io.out(await renderHelp())
  else if (name === undefined) throw new AgentError('usage', `Give a command.\n\n${await renderHelp()}`)
  else throw new AgentError('usage', `${name} is not a command. See: postern --help`)
  return 'ok'
}

export async function renderHelp(): Promise<string> {
  const codes = Object.values(EXIT_CODES).map(
    ([code, meaning]) => `  ${String(code).padStart(2)}  ${meaning}`,
  )
  return `postern: connects this machine to a Postern server, and works with servers

Usage: postern COMMAND [OPTIONS]

This machine as a node, as root:
${listCommands(OF_NODES)}

Work with a server, from any machine:
${listCommands(await loadOperators())}

  --help      show this text; after a command, its own help
  --version   show the version

Environment, where the command line says nothing else: POSTERN_URL, POSTERN_TOKEN,
POSTERN_TOKEN_FILE, POSTERN_FINGERPRINT, POSTERN_CA_FILE, POSTERN_DOCKER,
POSTERN_PUBLISH_FILE, POSTERN_GATEWAY, POSTERN_ALL_TRAFFIC, POSTERN_DNS,
POSTERN_AGENT_DIR (as --config-dir), XDG_CONFIG_HOME, NO_COLOR

Exit codes:
${codes.join('\n')}

Files: /etc/postern/agent.json (server, token and key; for this user only),
/etc/postern/last-good.json, /run/postern-agent/, postern-agent.service,
~/.config/postern/servers.json (servers and tokens; for this user only)`
}

function listCommands(commands: Readonly<Record<string, { summary: string }>>): string {
  return Object.entries(commands)
    .map(([name, { summary }]) => `  ${name.padEnd(11)} ${summary}`)
    .join('\n')
}

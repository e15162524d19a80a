import { messageOf } from '@postern/host/errors'
import { AgentError, EXIT_CODES, exitCodeOf } from '../errors.ts'
import type { Command, Context } from './command.ts'
import { connect } from './connect.ts'
import { disconnect } from './disconnect.ts'
import { run } from './run.ts'
import { status } from './status.ts'
import { why } from './why.ts'

const COMMANDS: Readonly<Record<string, Command>> = { connect, disconnect, status, why, run }

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
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command) {
    if (!rest.includes('--help') && !rest.includes('-h')) return await command.execute(context, rest)
    context.io.out(command.help)
    return 'ok'
  }
  if (name === '--version' || name === '-V') context.io.out(context.version)
  else if (name === '--help' || name === '-h') context.io.out(renderHelp())
  else if (name === undefined) throw new AgentError('usage', `Give a command.\n\n${renderHelp()}`)
  else throw new AgentError('usage', `${name} is not a command. See: postern --help`)
  return 'ok'
}

export function renderHelp(): string {
  const commands = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(11)} ${summary}`)
  const codes = Object.values(EXIT_CODES).map(
    ([code, meaning]) => `  ${String(code).padStart(2)}  ${meaning}`,
  )
  return `postern: connects this machine to a Postern server through a tunnel

Usage: postern COMMAND [OPTIONS]

${commands.join('\n')}

  --help      show this text; after a command, its own help
  --version   show the version

Environment, where the command line says nothing else: POSTERN_URL, POSTERN_TOKEN,
POSTERN_TOKEN_FILE, POSTERN_FINGERPRINT, POSTERN_CA_FILE, POSTERN_DOCKER,
POSTERN_PUBLISH_FILE, POSTERN_GATEWAY, POSTERN_ALL_TRAFFIC, POSTERN_DNS,
POSTERN_AGENT_DIR (as --config-dir), NO_COLOR

Exit codes:
${codes.join('\n')}

Files: /etc/postern/agent.json (server, token and key; for this user only),
/etc/postern/last-good.json, /run/postern-agent/, postern-agent.service`
}

import { readFlags, UsageError } from '@postern/host/flags'
import { CommandError, runCommand } from './lib/command.ts'
import { installEdge, uninstallEdge } from './lib/edge/install.ts'
import { joinAndStart, leaveAndStop } from './lib/edge/membership.ts'
import { observeMachine } from './lib/machine.ts'
import { readPackageVersion } from './lib/package-version.ts'

/** Each verb: its arguments, its help text, and what it does. `install` is the installer's. */
const VERBS: Readonly<
  Record<string, { shape: string; help: string; run: (args: readonly string[]) => Promise<void> }>
> = {
  join: {
    shape: 'join ADDRESS TOKEN',
    help: 'make this machine the edge that the token of the console names, now and at each boot',
    run: joinAndStart,
  },
  leave: {
    shape: 'leave',
    help: 'end the traffic, and forget the server with all that it gave',
    run: withoutArguments(leaveAndStop),
  },
  uninstall: {
    shape: 'uninstall',
    help: 'leave, and remove the program and its files from this machine',
    run: withoutArguments(uninstallEdge),
  },
}

/** The command of an edge on a machine of its own. */
async function main([verb, ...rest]: readonly string[]): Promise<number> {
  if (verb === '--version' || verb === '-V') return print(readPackageVersion())
  if (verb === '--help' || verb === '-h') return print(renderHelp())
  const run = verb === 'install' ? withoutArguments(installEdge) : findVerb(verb)
  if (!run)
    throw new UsageError(
      `${verb === undefined ? 'give a command' : `${verb} is not a command`}. See: postern-edge --help`,
    )
  if (!observeMachine().isRoot) throw new CommandError('root is required: use sudo')
  await run(rest)
  return 0
}

function findVerb(verb: string | undefined) {
  return verb !== undefined && Object.hasOwn(VERBS, verb) ? VERBS[verb]?.run : undefined
}

function withoutArguments(run: () => Promise<void>) {
  return (args: readonly string[]) => {
    readFlags([], args)
    return run()
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

function renderHelp(): string {
  const verbs = Object.values(VERBS).map(({ shape, help }) => `  ${shape.padEnd(19)} ${help}`)
  return `postern-edge: an edge of a Postern server that is on another machine

Usage: postern-edge COMMAND

${verbs.join('\n')}

  --help      show this text
  --version   show the version

The line of the console's page Edges installs it, and updates it when pasted without its last two words.
Settings: /etc/postern/environment. After a change: systemctl restart postern-edge
Logs: journalctl -u postern-edge`
}

await runCommand(main)

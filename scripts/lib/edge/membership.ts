import { existsSync } from 'node:fs'
import { installationPaths } from '@postern/contract/installation'
import { parseSettings } from '@postern/contract/settings/settings'
import { must, run } from '@postern/host/processes/exec'
import { renderDataPlane } from '../banner.ts'
import { CommandError, printable, runArgv } from '../command.ts'
import { environmentOf, ROOT } from '../environment.ts'
import { observeMachine } from '../machine.ts'
import { nodeArgv } from '../programs/programs.ts'
import { EDGE_UNIT, readUnitSettings, restartEdgeUnit } from '../programs/systemd.ts'

const PATIENCE = { timeoutMs: 60_000 }

/** Joins with the address and the token of the console, and starts the edge, now and at each boot. @throws CommandError */
export async function joinAndStart(args: readonly string[]): Promise<void> {
  if (hasJoined())
    throw new CommandError('This machine is an edge already. To join anew, run postern-edge leave first.')
  await runEdge(['join', ...args])
  await must('systemctl', ['enable', EDGE_UNIT], PATIENCE)
  process.stdout.write(renderDataPlane(await restartEdgeUnit()))
}

/** @throws CommandError */
export async function leaveAndStop(): Promise<void> {
  if (!hasJoined()) throw new CommandError('This machine has not joined an installation.')
  await must('systemctl', ['disable', '--now', EDGE_UNIT], PATIENCE)
  await run('systemctl', ['reset-failed', EDGE_UNIT])
  await runEdge(['leave'])
}

/** Whether this machine is an edge of a server elsewhere. */
export function hasJoined(): boolean {
  return existsSync(installationPaths(parseSettings(readUnitSettings()).POSTERN_DATA_DIR).identityDir)
}

/** Runs a verb of the edge's own program, and shows what it says. */
async function runEdge(args: readonly string[]): Promise<void> {
  const env = environmentOf('edge', { ...process.env, ...readUnitSettings() }, observeMachine())
  const { code, stdout, stderr } = await runArgv([...nodeArgv(ROOT, 'edge'), ...args], { ...PATIENCE, env })
  // What to start next is done here already.
  process.stdout.write(stdout.replace(/^Start it: .*\n/m, ''))
  if (code !== 0) throw new CommandError(printable(lastLine(stderr)))
}

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? ''
  return line.replace(/^\S+: /, '')
}

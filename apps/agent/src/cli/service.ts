import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { findHolder, isAlive, releaseLock } from '@postern/host/lock'
import { type AgentPaths, DEFAULT_CONFIG_DIR } from '../config.ts'
import { AgentError } from '../errors.ts'
import type { Context } from './command.ts'
import { renderConfinement } from './confinement.ts'

const UNIT_DIR = '/etc/systemd/system'
const STOP_WITHIN = 10_000

/** Starts the agent in the background: as a systemd unit where systemd runs, else as a detached process. */
export async function startService(
  context: Context,
  paths: AgentPaths,
  name: string,
  withSystemd: boolean,
): Promise<void> {
  if (withSystemd && existsSync('/run/systemd/system')) await startUnit(context, paths, name)
  else await startProcess(context, paths)
}

/** Stops it however it was started. The tunnel stays up. */
export async function stopService(context: Context, paths: AgentPaths, name: string): Promise<void> {
  const unit = unitName(paths, name)
  const file = `${UNIT_DIR}/${unit}`
  if (existsSync(file)) {
    await systemctl(context, 'disable', '--now', unit)
    await rm(file, { force: true })
    await systemctl(context, 'daemon-reload')
  }
  await stopProcess(paths)
}

function commandLine({ self }: Context, paths: AgentPaths): string[] {
  return [self.program, ...self.args, 'run', '--config-dir', paths.configDir]
}

async function startProcess(context: Context, paths: AgentPaths): Promise<void> {
  await mkdir(paths.runDir, { recursive: true, mode: 0o700 })
  const [program = '', ...args] = commandLine(context, paths)
  await context.exec.startDetached(program, args, { stdoutFile: paths.log, stderrFile: paths.log })
}

async function stopProcess(paths: AgentPaths): Promise<void> {
  const daemon = findHolder(paths.pid)
  if (daemon) {
    process.kill(daemon.pid, 'SIGTERM')
    for (let round = 0; round < STOP_WITHIN / 50 && isAlive(daemon); round++) await pause(50)
    if (isAlive(daemon)) process.kill(daemon.pid, 'SIGKILL')
  }
  releaseLock(paths.pid)
}

function unitName(paths: AgentPaths, name: string): string {
  return paths.configDir === DEFAULT_CONFIG_DIR ? 'postern-agent.service' : `postern-agent-${name}.service`
}

async function startUnit(context: Context, paths: AgentPaths, name: string): Promise<void> {
  const unit = unitName(paths, name)
  const command = commandLine(context, paths)
  await writeUnit(context, unit, renderUnit(command, paths))
  await systemctl(context, 'enable', unit)
  const { code } = await context.exec.run('systemctl', ['restart', unit], { timeoutMs: 30_000 })
  if (code === 0) return
  // In some containers systemd cannot confine anything. There a node without confinement is better than none.
  await writeUnit(context, unit, renderUnit(command, undefined))
  await systemctl(context, 'restart', unit)
}

async function writeUnit(context: Context, unit: string, text: string): Promise<void> {
  await writeFile(`${UNIT_DIR}/${unit}`, text, { mode: 0o644 })
  await systemctl(context, 'daemon-reload')
}

/**
 * Stopping the unit ends only the main process: a userspace tunnel that it started keeps carrying traffic.
 * @param paths what a confined agent may write; undefined: it is not confined
 */
export function renderUnit(
  command: readonly string[],
  paths: Pick<AgentPaths, 'configDir'> | undefined,
): string {
  return [
    '[Unit]',
    'Description=Postern agent: keeps this machine connected to the tunnel',
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    // The start has failed when systemd cannot run the program.
    'Type=exec',
    `ExecStart=${command.map(quote).join(' ')}`,
    'Restart=always',
    'RestartSec=2',
    'KillMode=process',
    'UMask=0077',
    'LimitCORE=0',
    'NoNewPrivileges=yes',
    ...(paths ? renderConfinement(paths) : []),
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n')
}

/** systemd expands `%` and `$`, and takes quoted text as one argument. */
function quote(text: string): string {
  const escaped = text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')
  return `"${escaped}"`
}

async function systemctl({ exec }: Context, ...args: string[]): Promise<void> {
  const { code, stderr } = await exec.run('systemctl', args, { timeoutMs: 30_000 })
  if (code !== 0) throw new AgentError('failed', `systemctl ${args.join(' ')}: ${stderr.trim()}`)
}

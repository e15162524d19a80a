import { chmod, mkdir, rm } from 'node:fs/promises'
import type { DataPlane } from '@postern/contract/edge/edge'
import { ownPortsOf } from '@postern/contract/settings/settings'
import { messageOf } from '@postern/host/errors'
import { exitCodeOf, readFlags } from '@postern/host/flags'
import { startBeats } from '@postern/host/processes/beats'
import { createExec } from '@postern/host/processes/exec'
import { watchSelf } from '@postern/host/processes/self-watch'
import { RESOLV_CONFS } from '@postern/host/resolv-confs'
import { holdSocket } from '@postern/host/socket'
import { type Logger, pino } from 'pino'
import manifest from '../../../package.json' with { type: 'json' }
import { type Config, readConfig } from './config.ts'
import { createHaproxy, type HaproxyDriver } from './drivers/haproxy/driver.ts'
import { findProxyUser } from './drivers/haproxy/process/running.ts'
import { createNftables } from './drivers/nftables/driver.ts'
import { removeBarriers } from './drivers/tunnel/barriers.ts'
import { removeInterface } from './drivers/tunnel/interface.ts'
import { assertNotOfOthers, listOwnInterfaces } from './drivers/tunnel/owner.ts'
import { createEdge } from './edge.ts'
import { findLogPort } from './machine.ts'
import { createJournal, type Journal } from './state/journal.ts'

/** The edge: makes this machine equal to the desired state. `--down` ends the traffic instead. */
async function main(): Promise<void> {
  const flags = readFlags(['--down'], process.argv.slice(2))
  const config = readConfig()
  await mkdir(config.paths.edgeDir, { recursive: true, mode: 0o700 })
  await chmod(config.paths.edgeDir, 0o700)
  const held = await holdSocket(`${config.paths.edgeDir}/edge.sock`)
  if (!held) throw new Error('Another edge is running on this data directory.')
  const journal = createJournal()
  const log = pino({ name: 'edge', level: config.settings.POSTERN_LOG_LEVEL }, writeTo(journal))
  if (flags.has('--down')) await takeDown(config, log)
  else {
    await removeFormerState(config)
    return serve(config, log, journal, held.release)
  }
  await held.release()
}

/** The state was once in a directory, with keys that nothing renews there any more (0027). */
async function removeFormerState({ paths }: Config): Promise<void> {
  await rm(`${paths.edgeDir}/state`, { recursive: true, force: true })
}

/** To who has started us first. */
function writeTo(journal: Journal): { write(line: string): void } {
  const own = pino.destination(2)
  return {
    write(line) {
      own.write(line)
      journal.write(line)
    },
  }
}

async function serve(
  config: Config,
  log: Logger,
  journal: Journal,
  release: () => Promise<void>,
): Promise<void> {
  await assertNotOfOthers({ exec: createExec(), ...tunnelOf(config) })
  const edge = createEdge({
    ...config,
    exec: createExec(),
    version: manifest.version,
    log,
    journal,
    now: Date.now,
    random: Math.random,
    resolvConfs: RESOLV_CONFS,
    haproxy: await openHaproxy(config, log),
    proxyUid: (await findProxyUser())?.uid ?? process.getuid?.(),
    edgePorts: () => findLogPort(config.paths.haproxyDir),
    onReady: (dataPlane) =>
      tellReady(config, dataPlane).catch((err: unknown) => log.error({ err }, 'systemd was not told')),
  })
  const stop = () => {
    edge
      .close()
      .then(release)
      .then(() => process.exit(0), fail)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  await edge.start()
}

/** Tells the program that started us: `npm start` over its channel, systemd in the status of the unit. */
async function tellReady({ notifySocket, isUnit }: Config, dataPlane: DataPlane | null): Promise<void> {
  const message = { type: 'ready', dataPlane }
  process.send?.(message)
  startBeats()
  if (isUnit && !process.send) watchSelf()
  if (!notifySocket) return
  const say = ['systemd-notify', '--ready', `--status=${JSON.stringify(message)}`]
  await createExec().run('env', [`NOTIFY_SOCKET=${notifySocket}`, ...say], { timeoutMs: 10_000 })
}

/** What cannot be ended because a program or a right is missing was not ours, or another part reports it. */
async function takeDown(config: Config, log: Logger): Promise<void> {
  const { settings } = config
  const exec = createExec()
  const haproxy = await openHaproxy(config, log)
  await haproxy.stop()
  for (const name of await listOwnInterfaces({ exec, ...tunnelOf(config) })) {
    const own = { exec, interface: name }
    await removeInterface(own)
    await removeBarriers(own)
    await createNftables({ ...own, httpsPort: settings.POSTERN_HTTPS_PORT }).remove()
  }
}

function tunnelOf({ settings }: Config) {
  return { interface: settings.POSTERN_TUNNEL_INTERFACE, dataDir: settings.POSTERN_DATA_DIR }
}

function openHaproxy({ settings, paths }: Config, log: Logger): Promise<HaproxyDriver> {
  return createHaproxy({
    exec: createExec(),
    warn: (message) => log.warn(message),
    directory: paths.haproxyDir,
    serverSocket: paths.serverSocket,
    lanes: paths.lanesDir,
    root: settings.POSTERN_DATA_DIR,
    connectionsPerSource: settings.POSTERN_CONNECTIONS_PER_SOURCE,
    portRange: settings.POSTERN_PORT_RANGE,
    ownPorts: ownPortsOf(settings),
    httpPort: settings.POSTERN_HTTP_PORT,
    httpsPort: settings.POSTERN_HTTPS_PORT,
  })
}

function fail(error: unknown): never {
  process.stderr.write(`edge: ${messageOf(error)}\n`)
  process.exit(exitCodeOf(error))
}

await main().catch(fail)

import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import type { DataPlane } from '@postern/contract/edge/edge'
import { ownPortsOf } from '@postern/contract/settings/settings'
import { messageOf } from '@postern/host/errors'
import { exitCodeOf, readFlags, UsageError } from '@postern/host/flags'
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
import { createFarServers } from './identity/far-servers.ts'
import { type IdentityStore, openIdentity, removeIdentity } from './identity/identity.ts'
import { JOIN_SHAPE, joinInstallation } from './identity/join.ts'
import { listSilentServers } from './link/silent-servers.ts'
import { findLogPort, listOwnAddresses, observeMachine } from './machine.ts'
import { createJournal, type Journal } from './state/journal.ts'

/**
 * The edge: makes this machine equal to the desired state. `--down` ends the traffic instead; `join` makes the machine an
 * edge of a server elsewhere, and `leave` ends that.
 */
async function main([verb, ...rest]: readonly string[]): Promise<void> {
  const isVerb = verb === 'join' || verb === 'leave'
  const flags = readFlags(['--down'], isVerb || verb === undefined ? [] : [verb, ...rest])
  const config = readConfig()
  await mkdir(config.paths.edgeDir, { recursive: true, mode: 0o700 })
  await chmod(config.paths.edgeDir, 0o700)
  const held = await holdSocket(`${config.paths.edgeDir}/edge.sock`)
  if (!held) throw new Error(isVerb ? RUNNING : 'Another edge is running on this data directory.')
  const journal = createJournal()
  const log = pino({ name: 'edge', level: config.settings.POSTERN_LOG_LEVEL }, writeTo(journal))
  if (verb === 'join') await join(config, rest)
  else if (verb === 'leave') await leave(config, log, rest)
  else if (flags.has('--down')) await takeDown(config, log)
  else {
    await removeFormerState(config)
    return serve(config, log, journal, held.release)
  }
  await held.release()
}

const RUNNING = 'The edge is running. Stop it first: systemctl stop postern-edge (traffic continues)'

async function join({ paths, settings }: Config, args: readonly string[]): Promise<void> {
  const [address, token] = args
  if (address === undefined || token === undefined || args.length > 2)
    throw new UsageError(`Copy the whole line of the console: ${JOIN_SHAPE}`)
  const { ownNetworks } = observeMachine(settings, [])
  const { name, number, identity } = await joinInstallation({
    address,
    token,
    paths,
    version: manifest.version,
    tunnelPort: settings.POSTERN_TUNNEL_PORT,
    machine: { addresses: listOwnAddresses(ownNetworks) },
    now: Date.now,
  })
  const { publicHost } = identity.known
  const silent = await listSilentServers(identity)
  say(`This machine is now the edge ${name} (number ${number}) of ${publicHost}.`)
  for (const url of silent)
    say(`${url} does not answer here: open that port on the server's machine for this one.`)
  say('Start it: systemctl enable --now postern-edge')
}

/** Ends the traffic and forgets the installation, with all that it had here. */
async function leave(config: Config, log: Logger, args: readonly string[]): Promise<void> {
  readFlags([], args)
  const { edgeDir, identityDir } = config.paths
  if (!existsSync(identityDir)) throw new Error('This machine has not joined an installation.')
  await takeDown(config, log)
  // Last, so that a leave that was interrupted can be repeated.
  for (const name of await readdir(edgeDir))
    if (name !== basename(identityDir) && name !== 'edge.sock')
      await rm(`${edgeDir}/${name}`, { recursive: true, force: true })
  await removeIdentity(identityDir)
  say('This machine is no edge any more. Remove it in the console, too, if it does not join again.')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
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
  const identity = await openIdentity(config.paths.identityDir)
  const edge = createEdge({
    ...config,
    identity,
    exec: createExec(),
    version: manifest.version,
    log,
    journal,
    now: Date.now,
    random: Math.random,
    resolvConfs: RESOLV_CONFS,
    haproxy: await openHaproxy(config, log, identity),
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

function openHaproxy(
  { settings, paths }: Config,
  log: Logger,
  identity?: IdentityStore,
): Promise<HaproxyDriver> {
  return createHaproxy({
    exec: createExec(),
    warn: (message) => log.warn(message),
    directory: paths.haproxyDir,
    serverSocket: paths.serverSocket,
    findFarServers: identity && createFarServers({ identity, now: Date.now }),
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

await main(process.argv.slice(2)).catch(fail)

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { messageOf } from '@postern/host/errors'
import { readFlags } from '@postern/host/flags'
import { findHolder } from '@postern/host/lock'
import { must } from '@postern/host/processes/exec'
import { signIn } from './demo/api.ts'
import { HERE, inSite, KNOWN_NAME, makeSite, PORTS, removeSite, startSitePrograms } from './demo/site.ts'
import { findFault, listVisits, renderVisit, type Visit } from './demo/visits.ts'
import { CommandError, runArgv, runCommand, untilSignal } from './lib/command.ts'
import { type Environment, ROOT } from './lib/environment.ts'
import { observeMachine } from './lib/machine.ts'
import { findFreePort } from './lib/ports.ts'
import { takeTrafficDown } from './lib/programs/programs.ts'
import { runInstallation } from './lib/programs/run-installation.ts'

/**
 * Everything that the demonstration creates is in here, has "demo" in its name, or listens on the demonstration's own
 * ports.
 */
const DATA_DIR = '/var/lib/postern-demo'
const SITE_DIR = join(DATA_DIR, 'site')
const DOMAINS = { metrics: 'metrics.demo.example', mqtt: 'mqtt.demo.example' }
/** The installation's, for programs that visit it. */
const AUTHORITY = join(DATA_DIR, 'ca.crt')
const NODE = join(ROOT, 'node_modules/.bin/node')
const AGENT = join(ROOT, 'apps/agent/dist/postern.mjs')
const AGENT_PLACE = [`--config-dir=${join(SITE_DIR, 'agent')}`]

const say = (text: string) => void process.stdout.write(text)

/** `npm run demo`: an installation and a private site on this machine, until Ctrl-C. `--once` tests it and ends. */
async function demo(path: string, args: readonly string[]): Promise<number> {
  const isOnce = readFlags(['--once'], args).has('--once')
  const { isRoot, isLinux } = observeMachine()
  if (!isRoot || !isLinux)
    throw new CommandError('the demonstration creates networks, so it needs root on Linux')
  const holder = findHolder(installationPaths(DATA_DIR).starterPid)
  if (holder) throw new CommandError(`the demonstration is already running (pid ${holder.pid})`)
  await sweep(path)
  const password = randomBytes(9).toString('base64url')
  const environment = await chooseSettings(path, password)
  const { promise: enough, resolve: end } = Promise.withResolvers<number>()
  void untilSignal().then(() => end(0))
  try {
    await makeSite()
    await runInstallation(environment, enough, {
      onServer: () => say('The installation is up. Connecting the private site …\n'),
      onEdge: () => void present(environment, password, isOnce).then((code) => isOnce && end(code), fail),
      warn: (text) => void process.stderr.write(text),
    })
  } finally {
    await sweep(path)
    say('The demonstration is removed.\n')
  }
  return enough

  function fail(error: unknown): void {
    process.stderr.write(`postern: ${messageOf(error)}\n`)
    end(1)
  }
}

/** Other ports than a real installation's, so that both can run at once. */
async function chooseSettings(path: string, password: string): Promise<Environment> {
  return {
    PATH: path,
    POSTERN_DATA_DIR: DATA_DIR,
    POSTERN_PUBLIC_HOST: HERE,
    POSTERN_HTTP_PORT: String(await findFreePort(8080, 'tcp')),
    POSTERN_HTTPS_PORT: String(await findFreePort(8443, 'tcp')),
    POSTERN_CONSOLE_PORT: String(await findFreePort(3300, 'tcp')),
    POSTERN_TUNNEL_PORT: String(await findFreePort(51900, 'udp')),
    POSTERN_TUNNEL_NETWORK: '10.213.0.0/16',
    POSTERN_PORT_RANGE: '32540-32559',
    POSTERN_TUNNEL_INTERFACE: 'postern-demo',
    POSTERN_ADMIN_PASSWORD: password,
  }
}

async function present(settings: Environment, password: string, isOnce: boolean): Promise<number> {
  const origin = `http://127.0.0.1:${settings.POSTERN_CONSOLE_PORT}`
  mkdirSync(SITE_DIR, { recursive: true, mode: 0o700 })
  await startSitePrograms(SITE_DIR)
  const api = await signIn(origin, 'admin', password)
  const node = await api.createNode('Demo site')
  const { publicUrl, caFingerprint } = await api.getConfig()
  say(await connectSite(publicUrl, caFingerprint, node.token))
  for (const [name, domain] of Object.entries(DOMAINS)) {
    const backendPort = PORTS[name as keyof typeof DOMAINS] // the keys of both are the same two words
    await api.untilLive(await api.publish(node.id, { name, domain, backendPort, skipValidation: true }))
  }
  const broker = await api.publishPort(node.id, {
    name: 'broker',
    ...{ ssl: true, confirmSharedCookies: true },
    backendPort: PORTS.broker,
  })
  const names = await api.publishPort(node.id, { name: 'names', proto: 'udp', backendPort: PORTS.names })
  for (const service of [broker, names]) await api.untilLive(service)
  writeFileSync(AUTHORITY, await api.getAuthority(), { mode: 0o644 })
  const visits = listVisits({
    httpsPort: Number(settings.POSTERN_HTTPS_PORT),
    domains: DOMAINS,
    broker: { host: HERE, port: broker.port, authority: AUTHORITY },
    names: { host: HERE, port: names.port, known: KNOWN_NAME },
  })
  const faults = await check(visits)
  say(
    `\nConsole: ${origin}/   admin / ${password}\n\nFrom this machine:\n\n${visits.map(renderVisit).join('\n')}\n`,
  )
  say(faults === 0 ? 'All were tested just now and answer.\n' : '')
  if (!isOnce) say('Ctrl-C removes everything.\n')
  return faults === 0 ? 0 : 1
}

/** Passes the token in the environment, which only root can see. */
async function connectSite(url: string, fingerprint: string, token: string): Promise<string> {
  const flags = [`--url=${url}`, `--fingerprint=${fingerprint}`, '--interface=postern-demo-n', '--no-service']
  const [program = '', ...args] = inSite(NODE, AGENT, 'connect', ...flags, ...AGENT_PLACE)
  return must(program, args, {
    timeoutMs: 60_000,
    env: { PATH: process.env.PATH ?? '', POSTERN_TOKEN: token },
  })
}

async function check(visits: readonly Visit[]): Promise<number> {
  const faults = await Promise.all(visits.map(findFault))
  for (const [index, fault] of faults.entries())
    if (fault) process.stderr.write(`${visits[index]?.title}: ${fault}\n`)
  return faults.filter(Boolean).length
}

/** Removes what a demonstration left behind, even one that was killed. */
async function sweep(path: string): Promise<void> {
  if (existsSync(SITE_DIR))
    await runArgv(inSite(NODE, AGENT, 'disconnect', ...AGENT_PLACE), { timeoutMs: 20_000 })
  await removeSite()
  if (!existsSync(DATA_DIR)) return
  await takeTrafficDown({
    PATH: path,
    POSTERN_DATA_DIR: DATA_DIR,
    POSTERN_PUBLIC_HOST: HERE,
    POSTERN_TUNNEL_INTERFACE: 'postern-demo',
  })
  rmSync(DATA_DIR, { recursive: true, force: true })
}

await runCommand((args) => demo(process.env.PATH ?? '', args))

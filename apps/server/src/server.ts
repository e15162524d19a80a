import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { startOrders } from './certificates/orders/engine.ts'
import { startRenewal } from './certificates/renewal.ts'
import { publicUrl, type ServerConfig } from './config.ts'
import { buildContext, type Context, createLog, realWorld } from './context.ts'
import { openControl } from './control.ts'
import type { GeneratedAdmin } from './core/accounts/accounts.ts'
import { startAlerts } from './core/alerts/engine.ts'
import { startBackups } from './core/backup/backups.ts'
import { createResolver } from './core/domains/resolver.ts'
import { prepareInstallation } from './core/first-start.ts'
import { startTakingBack } from './core/history/pending.ts'
import { createMetrics } from './core/metrics/metrics.ts'
import { startEnding } from './core/services/ending.ts'
import { startKeyRenewal } from './core/sign-in/keys.ts'
import { listenOnSocket, openLoopback } from './listen.ts'
import { openMetrics } from './metrics.ts'
import { createTelemetry, type Telemetry } from './otlp/start.ts'
import { watchSocket } from './socket-watch.ts'

export interface RunningServer {
  /** Only when the password was generated at this start. */
  generatedAdmin: GeneratedAdmin | undefined
  /** Where people reach the console. */
  publicUrl: string
  /** Ends streams and sockets, then the context in reverse. */
  close(): Promise<void>
}

/**
 * The whole server: one context, and an application for each of its entrances, through HAProxy, on this machine, and
 * where it is wanted for edges on others. Only HAProxy's information about a request's source is trusted.
 * @param onLost called when the socket of HAProxy and the edge is gone for good
 * @throws ListenError, SecretsError, DatabaseError, DatabaseTooNewError, EdgeTokenError
 */
export async function startServer(
  config: ServerConfig,
  onLost: (reason: string) => void,
): Promise<RunningServer> {
  const telemetry = createTelemetry(config)
  const log = createLog(config.settings.POSTERN_LOG_LEVEL, logTo(telemetry))
  const resolver = createResolver(config.settings.POSTERN_DNS_SERVERS)
  const context = await buildContext(config, log, { ...realWorld, resolver })
  const apps: FastifyInstance[] = []
  const ends: (() => void | Promise<void>)[] = []
  const close = () => closeAll(apps, ends, context)
  try {
    const generatedAdmin = await prepareInstallation(context)
    await startRenewal(context)
    startKeyRenewal(context)
    await startEnding(context)
    await startOrders(context)
    startAlerts(context)
    await startTakingBack(context)
    startBackups(context)
    const behindProxy = await buildApp(context, { trustForwarded: true })
    apps.push(behindProxy)
    const local = await buildApp(context, { trustForwarded: false })
    apps.push(local)
    await listenOnSocket(behindProxy, config.paths.serverSocket, 0o660)
    const watch = watchSocket({ app: behindProxy, path: config.paths.serverSocket, log, onLost })
    ends.push(() => watch.close())
    await listenOnSocket(local, config.paths.consoleSocket, 0o600)
    const closePort = await openLoopback(local, {
      port: config.settings.POSTERN_CONSOLE_PORT,
      onChange(problem) {
        if (problem !== null) log.error(`${problem}. The console is at ${config.paths.consoleSocket}, too`)
        context.edges.tellOwn('console', problem)
      },
    })
    ends.push(closePort)
    ends.push(await openControl(context))
    ends.push(await startMonitoring(context, telemetry))
    return { generatedAdmin, publicUrl: publicUrl(context.config), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The log goes to who has started us, and what a collector is told is beside it. */
function logTo(telemetry: Telemetry | undefined): { write(line: string): void } {
  if (!telemetry) return process.stderr
  return {
    write(line) {
      process.stderr.write(line)
      telemetry.logs.write(line)
    },
  }
}

/** Nothing is measured where nobody looks. */
async function startMonitoring(
  context: Context,
  telemetry: Telemetry | undefined,
): Promise<() => Promise<void>> {
  if (!telemetry && context.config.settings.POSTERN_METRICS_ADDRESS === null) return async () => undefined
  const metrics = createMetrics(context)
  const closeMetrics = await openMetrics(context, metrics)
  const stopSending = telemetry?.start(context, metrics)
  return async () => {
    await Promise.all([closeMetrics(), stopSending?.()])
    metrics.close()
  }
}

async function closeAll(
  apps: readonly FastifyInstance[],
  ends: readonly (() => void | Promise<void>)[],
  context: Context,
): Promise<void> {
  // A port closes only after its connections, which the application ends.
  await Promise.all([...ends.map((end) => end()), ...apps.map((app) => app.close())])
  await context.dispose()
}

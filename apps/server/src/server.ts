import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { startOrders } from './certificates/orders/engine.ts'
import { startRenewal } from './certificates/renewal.ts'
import type { ServerConfig } from './config.ts'
import { buildContext, type Context, createLog, realWorld } from './context.ts'
import type { GeneratedAdmin } from './core/accounts/accounts.ts'
import { createResolver } from './core/domains/resolver.ts'
import { prepareInstallation } from './core/first-start.ts'
import { startKeyRenewal } from './core/sign-in/keys.ts'
import { listenOnSocket, openLoopback } from './listen.ts'
import { watchSocket } from './socket-watch.ts'

export interface RunningServer {
  /** Only when the password was made up at this start. */
  generatedAdmin: GeneratedAdmin | undefined
  /** Ends streams and sockets, then the context in reverse. */
  close(): Promise<void>
}

/**
 * The server as a whole: one context, and an application for each of its two ways in, by HAProxy and on this machine.
 * Only what comes from HAProxy is believed about where it came from.
 * @param onLost the socket of HAProxy and the edge is gone for good
 * @throws ListenError, SecretsError, DatabaseError, DatabaseTooNewError, EdgeTokenError
 */
export async function startServer(
  config: ServerConfig,
  onLost: (reason: string) => void,
): Promise<RunningServer> {
  const log = createLog(config.settings.POSTERN_LOG_LEVEL, process.stderr)
  const resolver = createResolver(config.settings.POSTERN_DNS_SERVERS)
  const context = await buildContext(config, log, { ...realWorld, resolver })
  const apps: FastifyInstance[] = []
  const ends: (() => void | Promise<void>)[] = []
  const close = () => closeAll(apps, ends, context)
  try {
    const generatedAdmin = await prepareInstallation(context)
    await startRenewal(context)
    startKeyRenewal(context)
    await startOrders(context)
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
        context.edges.tellOwn(problem)
      },
    })
    ends.push(closePort)
    return { generatedAdmin, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function closeAll(
  apps: readonly FastifyInstance[],
  ends: readonly (() => void | Promise<void>)[],
  context: Context,
): Promise<void> {
  // A port is closed once its connections are, which the application ends.
  await Promise.all([...ends.map((end) => end()), ...apps.map((app) => app.close())])
  await context.dispose()
}

import { messageOf } from '@postern/host/errors'
import { exitCodeOf, readFlags } from '@postern/host/flags'
import { startBeats } from '@postern/host/processes/beats'
import { watchSelf } from '@postern/host/processes/self-watch'
import { readConfig } from './config.ts'
import { observeNetwork } from './network.ts'
import { type RunningServer, startServer } from './server.ts'

/** The starter does not wait longer than this. */
const STOP_MS = 2000

async function main(): Promise<void> {
  readFlags([], process.argv.slice(2))
  // Databases and keys are readable by this user only; the socket gets its own rights.
  process.umask(0o077)
  const config = readConfig(observeNetwork())
  const server = await startServer(config, (reason) => fail(new Error(reason)))
  stopOnRequest(server)
  tellReady(server)
  startBeats()
  if (config.isUnit && !process.send) watchSelf()
}

function stopOnRequest(server: RunningServer): void {
  let isStopping = false
  const stop = () => {
    if (isStopping) return
    isStopping = true
    setTimeout(() => process.exit(1), STOP_MS).unref()
    server.close().then(() => process.exit(0), fail)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // The starter died: this server would only keep the next one from starting.
  process.on('disconnect', stop)
}

/** A starter gets it over its channel; without one, a generated password is printed, only now. */
function tellReady({ generatedAdmin, publicUrl }: RunningServer): void {
  if (process.send) process.send({ type: 'ready', publicUrl, ...(generatedAdmin && { generatedAdmin }) })
  else if (generatedAdmin)
    process.stdout.write(
      `Sign in as ${generatedAdmin.username} with the password ${generatedAdmin.password}\n`,
    )
}

function fail(error: unknown): void {
  process.stderr.write(`postern: ${messageOf(error)}\n`)
  process.exit(exitCodeOf(error))
}

main().catch(fail)

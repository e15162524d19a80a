import { fileURLToPath } from 'node:url'
import { prepareDataDir } from '../../../scripts/lib/data-dir.ts'
import { ensureUsers } from '../../../scripts/lib/users.ts'
import type { Installation } from './installation.ts'
import type { Host } from './lab/network.ts'

const COMMAND = fileURLToPath(new URL('../../../scripts/rotate-key.ts', import.meta.url))

/**
 * The documented steps after a leak: stops the server, renews everything, and starts it again. The edge keeps
 * running.
 */
export async function rotateAll(host: Host, installation: Installation): Promise<void> {
  await installation.server.stop()
  const env = Object.entries(installation.env).map(([name, value]) => `${name}=${value}`)
  await host.must('env', ...env, process.execPath, COMMAND, '--all')
  await prepareDataDir(installation.dataDir, await ensureUsers())
  await installation.startServer()
}

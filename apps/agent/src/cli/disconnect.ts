import { rm } from 'node:fs/promises'
import { findCredentials, removeCredentials } from '../store.ts'
import { removeTunnel } from '../tunnel/tunnel.ts'
import { defineCommand, requireRoot } from './command.ts'
import { stopService } from './service.ts'

export const disconnect = defineCommand({
  summary: 'take this machine out of the tunnel',
  help: `Usage: postern disconnect [--forget] [--json] [--config-dir DIR]

Stops the agent and removes what it made: interface, routes, firewall table and
service. It stays so after a reboot. 'postern connect' without options comes back.
Doing it twice does no harm.

  --forget        also remove the stored address, token and key
  --json          one JSON object instead of words
  --config-dir D  the agent of that directory (default /etc/postern)`,
  options: { forget: { type: 'boolean' } },
  parse: (values) => ({ forget: values.forget === true }),
  async run(call, { forget }) {
    await requireRoot(call)
    const { context, paths, json } = call
    const credentials = await findCredentials(paths)
    await stopService(context, paths, credentials?.interface ?? '')
    await removeTunnel(context.exec, paths, credentials?.interface)
    await rm(paths.runDir, { recursive: true, force: true })
    if (forget) await removeCredentials(paths)
    const words = forget ? 'Disconnected. The stored credentials are removed.' : 'Disconnected.'
    context.io.out(json ? JSON.stringify({ state: 'disconnected', forgotten: forget }) : words)
    return 'ok'
  },
})

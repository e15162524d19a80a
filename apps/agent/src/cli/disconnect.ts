import { rm } from 'node:fs/promises'
import { findCredentials, removeCredentials } from '../store.ts'
import { removeTunnel } from '../tunnel/tunnel.ts'
import { defineCommand, requirePrivilege } from './command.ts'
import { stopService } from './service.ts'

export const disconnect = defineCommand({
  summary: 'disconnect this machine from the tunnel',
  help: `Usage: postern disconnect [--forget] [--json] [--config-dir DIR]

Stops the agent and removes what it made: interface, routes, firewall table and
service. The machine stays disconnected after a reboot. 'postern connect' without
options connects it again. Running this twice does no harm.

  --forget        also remove the stored server, token and key
  --json          print one JSON object instead of text
  --config-dir D  the agent that keeps its files there (default /etc/postern)`,
  options: { forget: { type: 'boolean' } },
  parse: (values) => ({ forget: values.forget === true }),
  async run(call, { forget }) {
    await requirePrivilege(call)
    const { context, paths, json } = call
    const credentials = await findCredentials(paths)
    await stopService(context, paths, credentials?.interface ?? '')
    await removeTunnel(context.exec, paths, credentials?.interface)
    await rm(paths.runDir, { recursive: true, force: true })
    if (forget) await removeCredentials(paths)
    const words = forget ? 'Disconnected. The stored credentials were removed.' : 'Disconnected.'
    context.io.out(json ? JSON.stringify({ state: 'disconnected', forgotten: forget }) : words)
    return 'ok'
  },
})

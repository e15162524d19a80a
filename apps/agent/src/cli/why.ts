import { findTracedAddress } from '@postern/contract/why/address'
import { renderWhy } from '@postern/contract/why/why'
import { createTrust } from '@postern/host/trust'
import { isIp } from '@postern/net/ip'
import { createServerClient } from '../daemon/server-client.ts'
import { AgentError } from '../errors.ts'
import { printable } from '../io.ts'
import { findCredentials } from '../store.ts'
import { defineCommand, findText, requirePrivilege } from './command.ts'

export const why = defineCommand({
  summary: "show where visitors of a service's address stop",
  help: `Usage: postern why ADDRESS [--visitor IP] [--json] [--config-dir DIR]

Asks the server about the way of a visitor from the name to the program's answer,
and shows what was seen at each step. ADDRESS is one of this node's services, like
https://app.example.com/path or tcp://203.0.113.1:32760. The exit code is 0 only
when visitors get an answer.

  --visitor IP    judge IP lists by this address instead of this machine's
  --json          print one JSON object instead of text
  --config-dir D  the agent that keeps its files there (default /etc/postern)`,
  options: { visitor: { type: 'string' } },
  argument: 'address',
  parse(values) {
    const [address, visitor] = [findText(values, 'address'), findText(values, 'visitor') ?? null]
    if (address === undefined) throw new AgentError('usage', 'Give an address. See: postern why --help')
    if (!findTracedAddress(address))
      throw new AgentError('usage', `${printable(address, 200)} is not an address. See: postern why --help`)
    if (visitor !== null && !isIp(visitor))
      throw new AgentError('usage', `--visitor takes one IP address, not ${printable(visitor, 100)}`)
    return { address, visitor }
  },
  async run(call, { address, visitor }) {
    await requirePrivilege(call)
    const { io } = call.context
    const credentials = await findCredentials(call.paths)
    if (!credentials) throw new AgentError('not-connected', 'Run postern connect first')
    const access = {
      url: new URL(credentials.url),
      token: credentials.token,
      trust: createTrust(credentials.ca),
    }
    const found = await createServerClient(access).why(address, visitor)
    if (call.json) io.out(JSON.stringify(found))
    else for (const line of renderWhy(found).split('\n')) io.out(printable(line, 1000))
    return found.state === 'works' ? 'ok' : 'not-reached'
  },
})

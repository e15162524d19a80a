import { endpoints } from '@postern/contract/endpoints/endpoints'
import { describe } from '../discovery/published.ts'
import { AgentError } from '../errors.ts'
import { openApi } from '../operator/api.ts'
import { chooseNode } from '../operator/node-here.ts'
import { findOwnNode, toOwnService } from '../operator/own-node.ts'
import { printService } from '../operator/print.ts'
import { SERVER_OPTION, serverNameOf } from '../operator/servers.ts'
import {
  HTTP_HELP,
  HTTP_OPTIONS,
  OPTIONS_HELP,
  PORT_HELP,
  PORT_OPTIONS,
  parseTarget,
  readServiceOptions,
  SERVICE_OPTIONS,
} from '../operator/service-options.ts'
import { type Call, defineCommand, findText, type Values } from './command.ts'

const COMMON = { ...SERVER_OPTION, ...SERVICE_OPTIONS, node: { type: 'string' } } as const
const COMMON_HELP = `  --node NODE        the node that the program runs on, or that reaches it, by name or
                     id (default: this machine, or the only one)
  --server NAME      another server than the one signed in to last
  --json             print the service as the API has it`

/** What a service is made from, before it is known on which node. */
function parsePublish(values: Values, kind: string) {
  const form = { ...parseTarget(values, kind), ...readServiceOptions(values) }
  return { form, node: findText(values, 'node'), server: serverNameOf(values) }
}

export const http = defineCommand({
  summary: 'publish a web program of a node',
  help: `Usage: postern http TARGET --domain NAME [--path PATH] [OPTIONS]

Publishes what listens at TARGET, seen from the node: a port like 8080, or with a
gateway HOST:PORT, https://HOST:PORT where it speaks TLS.

${OPTIONS_HELP}
${HTTP_HELP}
${COMMON_HELP}`,
  options: { ...COMMON, ...HTTP_OPTIONS },
  argument: 'target',
  parse: (values) => parsePublish(values, 'http'),
  async run(call, { form, node, server }) {
    const { domain, pathLocation } = form as { domain?: string; pathLocation?: string }
    const body = { name: domain ?? pathLocation, ...form }
    if (await publishHere(call, 'http', body, { node, server })) return 'ok'
    const api = await openApi(call, server)
    const { id } = await chooseNode(call, api, node)
    const service = await api.call(endpoints.createHttpService, { params: { nodeId: id }, body })
    if (call.json) call.context.io.out(JSON.stringify(service))
    else printService(call.context.io, service, 'Published')
    return 'ok'
  },
})

/** As this machine's node, where nobody has signed in. @returns whether it was */
async function publishHere(
  call: Call,
  type: 'http' | 'tcp' | 'udp',
  form: Record<string, unknown>,
  { node, server }: { node: string | undefined; server: string | undefined },
): Promise<boolean> {
  const own = node === undefined ? await findOwnNode(call, server) : undefined
  const outcome = await own?.publish(toOwnService(type, form, call.context.now()))
  if (outcome) call.context.io.out(call.json ? JSON.stringify(outcome) : describe(outcome))
  return outcome !== undefined
}

function definePorts(proto: 'tcp' | 'udp') {
  return defineCommand({
    summary: `publish a ${proto.toUpperCase()} program of a node on a public port`,
    help: `Usage: postern ${proto} TARGET [--port PORT] [OPTIONS]

Publishes what listens at TARGET, seen from the node: a port like 5432, or with a
gateway HOST:PORT.

${OPTIONS_HELP}
${PORT_HELP}
${COMMON_HELP}`,
    options: { ...COMMON, ...PORT_OPTIONS },
    argument: 'target',
    parse: (values) => parsePublish(values, proto),
    async run(call, { form: { backendProto, ...form }, node, server }) {
      if (backendProto) throw new AgentError('usage', `http:// and https:// are for postern http`)
      const named = { name: `${proto} ${form.backendPort}`, ...form }
      if (await publishHere(call, proto, named, { node, server })) return 'ok'
      const api = await openApi(call, server)
      const { id } = await chooseNode(call, api, node)
      const body = { ...named, proto }
      const service = await api.call(endpoints.createTcpService, { params: { nodeId: id }, body })
      if (call.json) call.context.io.out(JSON.stringify(service))
      else printService(call.context.io, service, 'Published')
      return 'ok'
    },
  })
}

export const tcp = definePorts('tcp')
export const udp = definePorts('udp')

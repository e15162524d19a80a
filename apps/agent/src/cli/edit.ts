import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { Service } from '@postern/contract/services/services'
import { AgentError } from '../errors.ts'
import { printable } from '../io.ts'
import { type Api, openApi } from '../operator/api.ts'
import { getService } from '../operator/names.ts'
import { findOwnNode, type OwnNode } from '../operator/own-node.ts'
import { printService } from '../operator/print.ts'
import { SERVER_OPTION, serverNameOf } from '../operator/servers.ts'
import {
  HTTP_OPTIONS,
  PORT_OPTIONS,
  parseBackend,
  parseService,
  readServiceOptions,
  SERVICE_OPTIONS,
} from '../operator/service-options.ts'
import { type Call, type Command, defineCommand, findText } from './command.ts'

const OFF = { type: 'boolean' } as const

export const edit = defineCommand({
  summary: 'change a service',
  help: `Usage: postern edit SERVICE [OPTIONS]

SERVICE is a name, an id, or a public address. What no option names stays as it is,
and the word none empties a text or a list.

  --to TARGET        where it leads: a port, HOST:PORT, or https://HOST:PORT
  --name NAME        what the console calls it
  --domain NAME      its domain; one that is new is added
  --path PATH        its public path
  --port PORT        its public port
  --allow LIST       only these addresses and networks, separated by commas
  --block LIST       not these
  --ttl TIME         it ends after this time, like 8h, or never
  --[no-]strip-path, --[no-]sign-in, --[no-]tls
  --skip-dns-check, --trust-name, --trust-cookies
  --server NAME      another server than the one signed in to last
  --json             print the service as the API has it`,
  options: {
    ...{ ...SERVER_OPTION, ...SERVICE_OPTIONS, ...HTTP_OPTIONS, ...PORT_OPTIONS },
    ...{ to: { type: 'string' }, 'no-strip-path': OFF, 'no-sign-in': OFF, 'no-tls': OFF },
  },
  argument: 'service',
  parse(values) {
    const to = findText(values, 'to')
    const form = { ...(to !== undefined && parseBackend(to)), ...readServiceOptions(values) }
    if (Object.keys(form).length === 0)
      throw new AgentError('usage', 'Say what to change. See: postern edit --help')
    return { service: parseService(values, 'edit'), form, server: serverNameOf(values) }
  },
  async run(call, { service, form, server }) {
    const api = await openApi(call, server)
    const before = await getService(api, service)
    const after = await updateService(api, before, form)
    if (call.json) call.context.io.out(JSON.stringify(after))
    else printService(call.context.io, after, 'Changed')
    return 'ok'
  },
})

/** A change that somebody else has made meanwhile is not overwritten. */
export function updateService(
  api: Api,
  { id, nodeId, type, updated_at }: Service,
  form: object,
): Promise<Service> {
  const input = { params: { nodeId, id }, body: { ...form, updated_at } }
  return type === 'http'
    ? api.call(endpoints.updateHttpService, input)
    : api.call(endpoints.updateTcpService, input)
}

const HOW = { server: '  --server NAME   another server than the one signed in to last' }

function defineOnOne(
  verb: string,
  summary: string,
  act: (api: Api, service: Service) => Promise<{ json: unknown; words: string }>,
  /** The same for what this machine's node publishes by command, where nobody has signed in. */
  actHere?: (own: OwnNode, name: string) => Promise<{ json: unknown; words: string }>,
): Command {
  const actAsPerson = async (service: string, call: Call, server: string | undefined) => {
    const api = await openApi(call, server)
    return await act(api, await getService(api, service))
  }
  return defineCommand({
    summary,
    help: `Usage: postern ${verb} SERVICE [--json]

SERVICE is a name, an id, or a public address.

${HOW.server}
  --json          print what the API answers`,
    options: SERVER_OPTION,
    argument: 'service',
    parse: (values) => ({ service: parseService(values, verb), server: serverNameOf(values) }),
    async run(call, { service, server }) {
      const own = actHere && (await findOwnNode(call, server))
      const { json, words } = own ? await actHere(own, service) : await actAsPerson(service, call, server)
      call.context.io.out(call.json ? JSON.stringify(json) : words)
      return 'ok'
    },
  })
}

const keyOf = ({ nodeId, type, id }: Service) => ({ params: { nodeId, type, id } })

export const rm = defineOnOne(
  'rm',
  'delete a service',
  async (api, service) => ({
    json: await api.call(endpoints.deleteService, keyOf(service)),
    words: `Deleted ${printable(service.name)} (${service.id})`,
  }),
  async (own, name) => {
    const removed = await own.remove(name)
    return { json: removed, words: `Deleted ${printable(removed.name)}` }
  },
)
export const enable = defineOnOne('enable', 'let visitors reach a service again', async (api, service) => ({
  json: await api.call(endpoints.enableService, { ...keyOf(service), body: {} }),
  words: `Enabled ${printable(service.name)} (${service.id})`,
}))
export const disable = defineOnOne(
  'disable',
  'keep a service, but let no visitor reach it',
  async (api, service) => ({
    json: await api.call(endpoints.disableService, { ...keyOf(service), body: {} }),
    words: `Disabled ${printable(service.name)} (${service.id})`,
  }),
)

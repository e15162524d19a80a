import { endpoints } from '@postern/contract/endpoints/endpoints'
import { AgentError } from '../errors.ts'
import { printable } from '../io.ts'
import { type Api, openApi } from '../operator/api.ts'
import { getNode } from '../operator/names.ts'
import { findOwnNode, type OwnNode } from '../operator/own-node.ts'
import { backendOf, kindOf, printTable, stateOf } from '../operator/print.ts'
import { readServers, SERVER_OPTION, serverNameOf } from '../operator/servers.ts'
import { type Call, defineCommand, findText } from './command.ts'

interface Filter {
  search: string | undefined
  node: string | undefined
  domain: string | undefined
  kind: string | undefined
  state: string | undefined
}

const LISTS = { services: listServices, nodes: listNodes, domains: listDomains } as const
type What = keyof typeof LISTS | 'servers'

export const ls = defineCommand({
  summary: 'list services, nodes, domains, or the servers you are signed in to',
  help: `Usage: postern ls [services|nodes|domains|servers] [--search WORDS] [--json]

  --search WORDS  those with this in their name, address or backend
  --node NODE     services of this node, by its name or id
  --domain NAME   services at this domain
  --kind KIND     http, tcp or udp services
  --state STATE   services in this state, like live, unanswered or disabled
  --server NAME   another server than the one signed in to last
  --json          print them as the API has them`,
  options: {
    ...SERVER_OPTION,
    ...{ search: { type: 'string' }, node: { type: 'string' }, domain: { type: 'string' } },
    ...{ kind: { type: 'string' }, state: { type: 'string' } },
  },
  argument: 'what',
  parse(values) {
    const what = findText(values, 'what') ?? 'services'
    if (what !== 'servers' && !Object.hasOwn(LISTS, what))
      throw new AgentError(
        'usage',
        `${printable(what, 50)} cannot be listed: services, nodes, domains and servers can`,
      )
    const [search, node, domain] = ['search', 'node', 'domain'].map((name) => findText(values, name))
    const filter = { search, node, domain, kind: findText(values, 'kind'), state: findText(values, 'state') }
    // Checked above.
    return { what: what as What, filter, server: serverNameOf(values) }
  },
  async run(call, { what, filter, server }) {
    const own = what === 'services' ? await findOwnNode(call, server) : undefined
    if (own) await listOwn(call, own)
    else if (what === 'servers') await listServers(call)
    else await LISTS[what](call, await openApi(call, server), filter)
    return 'ok'
  },
})

async function listServices(call: Call, api: Api, { node, ...filter }: Filter): Promise<void> {
  const ofNode = node === undefined ? undefined : (await getNode(api, node)).id
  const rows = await api.list(endpoints.listAllServices, { query: { ...filter, node: ofNode } })
  print(call, rows, ['ID', 'NAME', 'KIND', 'NODE', 'STATE', 'ADDRESS', 'LEADS TO'], (row) => [
    ...[String(row.id), row.name, kindOf(row), row.nodeName, stateOf(row)],
    ...[row.publicAccess ?? '-', backendOf(row)],
  ])
}

async function listNodes(call: Call, api: Api, { search }: Filter): Promise<void> {
  const rows = await api.list(endpoints.listNodes, { query: { search } })
  print(call, rows, ['ID', 'NAME', 'ADDRESS', 'STATE', 'SERVICES'], (row) => [
    ...[String(row.id), row.name, row.address],
    ...[row.isLocal ? 'this server' : row.enabled ? row.status : 'disabled', String(row.services)],
  ])
}

async function listDomains(call: Call, api: Api, { search }: Filter): Promise<void> {
  const rows = await api.list(endpoints.listDomains, { query: { search } })
  print(call, rows, ['ID', 'DOMAIN', 'CERTIFICATE', 'SIGN-IN'], (row) => [
    ...[String(row.id), row.domain, row.ssl ?? 'self-signed'],
    row.authentication ? 'yes' : 'no',
  ])
}

/** What this machine publishes by command: its token shows no more. */
async function listOwn(call: Call, own: OwnNode): Promise<void> {
  print(call, await own.list(), ['NAME', 'KIND', 'DOMAIN', 'PORT'], (row) => [
    ...[row.name, row.type],
    ...[row.domain, row.backendPort].map((value) => String(value ?? '-')),
  ])
}

async function listServers(call: Call): Promise<void> {
  const { current, servers } = await readServers(call)
  const rows = Object.entries(servers).map(([name, { url }]) => ({ name, url, isCurrent: name === current }))
  print(call, rows, ['NAME', 'ADDRESS', ''], ({ name, url, isCurrent }) => [
    name,
    url,
    isCurrent ? 'in use' : '',
  ])
}

function print<R>(
  { context: { io }, json }: Call,
  rows: readonly R[],
  heads: string[],
  cells: (row: R) => string[],
) {
  if (json) io.out(JSON.stringify(rows))
  else if (rows.length === 0) io.err('There are none')
  else printTable(io, heads, rows.map(cells))
}

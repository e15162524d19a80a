import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { Service } from '@postern/contract/services/services'
import { describe } from '../discovery/published.ts'
import { AgentError } from '../errors.ts'
import { type Io, printable } from '../io.ts'
import { type Api, openApi } from '../operator/api.ts'
import { chooseNode } from '../operator/node-here.ts'
import { findOwnNode, type OwnNode, toOwnService } from '../operator/own-node.ts'
import { printService } from '../operator/print.ts'
import { SERVER_OPTION, serverNameOf } from '../operator/servers.ts'
import {
  type Backend,
  HTTP_OPTIONS,
  parseTarget,
  readServiceOptions,
  SERVICE_OPTIONS,
} from '../operator/service-options.ts'
import { type Call, defineCommand, findText } from './command.ts'

/** In ms, between two looks at it. */
const LOOK_EVERY = 2000
const USUAL_TTL = '1h'

export const share = defineCommand({
  summary: 'publish a program for a while, until Ctrl-C',
  help: `Usage: postern share TARGET [--domain NAME | --tcp | --udp] [OPTIONS]

Publishes what listens at TARGET, a port or HOST:PORT seen from the node, and waits.
With Ctrl-C the service is deleted; after --ttl the server deletes it, even if this
machine is gone. Without --domain it is below a path of the server that nobody guesses.

  --ttl TIME        how long at most, like 30m or 8h (default 1h)
  --tcp, --udp      on a public port instead
  --node NODE       the node, by name or id (default: this machine, or the only one)
  --name NAME, --domain NAME, --path PATH, --allow LIST, --block LIST, --sign-in,
  --skip-dns-check  as for postern http
  --server NAME     another server than the one signed in to last
  --json            print the service as the API has it, then wait`,
  options: {
    ...{ ...SERVER_OPTION, ...SERVICE_OPTIONS, ...HTTP_OPTIONS, node: { type: 'string' } },
    ...{ tcp: { type: 'boolean' }, udp: { type: 'boolean' } },
  },
  argument: 'target',
  parse(values) {
    if (values.tcp === true && values.udp === true) throw new AgentError('usage', 'Use either --tcp or --udp')
    if (findText(values, 'ttl') === 'never')
      throw new AgentError('usage', 'What is shared ends: postern http publishes something for good')
    const proto = values.tcp === true ? ('tcp' as const) : values.udp === true ? ('udp' as const) : undefined
    const form = {
      ...parseTarget(values, 'share'),
      ...readServiceOptions({ ttl: USUAL_TTL, ...withoutAbsent(values) }),
    }
    return { form, proto, node: findText(values, 'node'), server: serverNameOf(values) }
  },
  async run(call, { form, proto, node, server }) {
    const { io, signal } = call.context
    const own = node === undefined ? await findOwnNode(call, server) : undefined
    if (own) {
      await shareHere(call, own, form, proto)
      return 'ok'
    }
    const api = await openApi(call, server)
    const nodeId = (await chooseNode(call, api, node)).id
    const service = await publish(api, nodeId, form, proto)
    if (call.json) io.out(JSON.stringify(service))
    else {
      printService(io, service, 'Shared')
      io.out('Press Ctrl-C to end it')
    }
    try {
      await waitForEnd(api, service, call.json ? undefined : io, signal)
    } finally {
      await remove(api, service)
      if (!call.json) io.out(`${printable(service.name)} is not shared any more`)
    }
    return 'ok'
  },
})

/** As this machine's node: what the server calls it and when it ends are as for people. */
async function shareHere(
  { context: { io, now, signal }, json }: Call,
  own: OwnNode,
  form: Backend & Record<string, unknown>,
  proto: 'tcp' | 'udp' | undefined,
): Promise<void> {
  const service = toOwnService(proto ?? 'http', { name: `share ${form.backendPort}`, ...form }, now())
  const outcome = await own.publish(service)
  if (json) io.out(JSON.stringify(outcome))
  else {
    io.out(describe(outcome))
    io.out('Press Ctrl-C to end it')
  }
  const end = Date.parse(String(service.endsAt))
  try {
    while (!signal.aborted && now() < end)
      await pause(LOOK_EVERY, undefined, { signal }).catch(() => undefined)
  } finally {
    if (now() < end) await own.remove(service.name)
    if (!json) io.out(`${printable(service.name)} is not shared any more`)
  }
}

function withoutAbsent<T extends object>(values: T): Partial<T> {
  // What is left of it has the same types.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>
}

function publish(
  api: Api,
  nodeId: number,
  { backendProto, ...form }: Backend & Record<string, unknown>,
  proto: 'tcp' | 'udp' | undefined,
): Promise<Service> {
  const name = `share ${form.backendPort}`
  if (proto) {
    if (backendProto) throw new AgentError('usage', 'http:// and https:// are for postern http')
    return api.call(endpoints.createTcpService, { params: { nodeId }, body: { name, ...form, proto } })
  }
  // The program knows nothing of a path that was made up here.
  const place = form.domain || form.pathLocation ? {} : { pathLocation: secretPath(), stripPath: true }
  const body = { name, ...place, ...form, ...(backendProto && { backendProto }) }
  return api.call(endpoints.createHttpService, { params: { nodeId }, body })
}

const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789'

function secretPath(): string {
  return `/share-${Array.from({ length: 16 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`
}

/** Until the signal, or until the service is gone: by its end, or because a person deleted it. */
async function waitForEnd(
  api: Api,
  service: Service,
  io: Io | undefined,
  signal: AbortSignal,
): Promise<void> {
  let said = ''
  while (!signal.aborted) {
    await pause(LOOK_EVERY, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const found = await look(api, service)
    if (found === 'gone') return
    const words = found && `${found.state.phase}${found.state.problem ? `: ${found.state.problem}` : ''}`
    if (words && words !== said) io?.out(`  ${printable(words)}`)
    said = words ?? said
  }
}

/** Undefined while the server cannot be reached: the service works without it. */
async function look(api: Api, { nodeId, type, id }: Service): Promise<Service | 'gone' | undefined> {
  try {
    return await api.call(endpoints.getService, { params: { nodeId, type, id } })
  } catch (error) {
    if (!(error instanceof AgentError)) throw error
    if (error.code === 'not-found') return 'gone'
    if (error.code === 'server-unreachable' || error.code === 'server-answer') return undefined
    throw error
  }
}

async function remove(api: Api, { nodeId, type, id }: Service): Promise<void> {
  try {
    await api.call(endpoints.deleteService, { params: { nodeId, type, id } })
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'not-found') throw error
  }
}

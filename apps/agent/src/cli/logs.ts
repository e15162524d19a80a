import { endpoints } from '@postern/contract/endpoints/endpoints'
import { LogBatch } from '@postern/contract/logs'
import type { ShownRequest } from '@postern/contract/requests/query'
import { AgentError } from '../errors.ts'
import { parseJson } from '../files.ts'
import { printable } from '../io.ts'
import { addressOf, openApi } from '../operator/api.ts'
import { getService } from '../operator/names.ts'
import { SERVER_OPTION, serverNameOf } from '../operator/servers.ts'
import { parseService } from '../operator/service-options.ts'
import { followStream } from '../operator/stream.ts'
import { defineCommand, findText } from './command.ts'

export const logs = defineCommand({
  summary: 'show the last requests of a service, or follow its log',
  help: `Usage: postern logs SERVICE [-f] [--last COUNT] [--json]

SERVICE is a name, an id, or a public address.

  --follow, -f    show its log as it grows, until Ctrl-C
  --last COUNT    how many of the last requests that are kept (default 50, at most 200)
  --server NAME   another server than the one signed in to last
  --json          a JSON object on each line; with -f, a text`,
  options: { ...SERVER_OPTION, follow: { type: 'boolean', short: 'f' }, last: { type: 'string' } },
  argument: 'service',
  parse(values) {
    const service = parseService(values, 'logs')
    const last = findText(values, 'last') ?? '50'
    if (!/^[1-9]\d{0,2}$/.test(last) || Number(last) > 200)
      throw new AgentError('usage', '--last must be a number from 1 to 200')
    return { service, last, isFollowing: values.follow === true, server: serverNameOf(values) }
  },
  async run(call, { service, last, isFollowing, server }) {
    const { io, signal } = call.context
    const api = await openApi(call, server)
    const { type, id } = await getService(api, service)
    const say = (line: string) => io.out(call.json ? JSON.stringify(line) : printable(line, 4000))
    if (isFollowing) {
      const path = addressOf(endpoints.streamLogs, { query: { type, id } })
      await followStream(api.access, { path, signal, onData: (data) => readLines(data).forEach(say) })
      return 'ok'
    }
    const { data, silent } = await api.call(endpoints.listRequests, { query: { service: id, limit: last } })
    for (const row of data.reverse())
      io.out(call.json ? JSON.stringify(row) : printable(renderRequest(row), 4000))
    for (const edge of silent) io.err(`${printable(edge)} gave no answer: what it keeps is not here`)
    return 'ok'
  },
})

const readLines = (data: string) => parseJson(data, LogBatch) ?? []

/** One line: when, from where, what, and what came of it. */
function renderRequest(row: ShownRequest): string {
  const { at, type, source, person, method, path, status, received, sent, total, reason } = row
  const what = type === 'http' ? `"${method ?? '-'} ${path ?? '-'}" ${status ?? '-'}` : type
  const time = total === null ? '' : ` ${total} ms`
  return [
    `${new Date(at).toISOString()} ${source}${person === null ? '' : ` (${person})`}`,
    `${what} ${received} B in, ${sent} B out,${time}${reason === null ? '' : `: ${reason}`}`,
  ].join(' ')
}

import { LIMITS } from '@postern/contract/limits'
import type { RequestFilters, ShownRequest } from '@postern/contract/requests/query'
import { isReason, REASONS } from '@postern/contract/requests/reasons'
import type { Context } from '../../context.ts'
import { renderCell } from '../csv.ts'
import { UnavailableError } from '../errors.ts'
import { listRequests } from './requests.ts'

export type ExportFormat = 'jsonl' | 'csv'

/**
 * All that the filters show, piece by piece, up to a million requests.
 * @throws UnavailableError in the middle when an edge gives no answer: a file that lacks something must not look whole
 */
export async function* exportRequests(
  context: Pick<Context, 'db' | 'access' | 'edges'>,
  filters: RequestFilters,
  format: ExportFormat,
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (format === 'csv') yield `${COLUMNS.map(([name]) => name).join(',')}\r\n`
  let before: string | undefined
  let left: number = LIMITS.exportedRequests
  while (left > 0) {
    const limit = Math.min(left, LIMITS.foundRequests)
    const page = await listRequests(context, { ...filters, limit, before }, signal)
    if (signal.aborted) return
    if (page.silent.length > 0)
      throw new UnavailableError('An edge gave no answer, so the export is not whole. Try again later')
    left -= page.data.length
    if (page.data.length > 0) yield page.data.map(format === 'csv' ? renderCsvLine : renderJsonLine).join('')
    if (page.next === null) return
    before = page.next
  }
}

const COLUMNS: readonly (readonly [string, (request: ShownRequest) => string | number | null])[] = [
  ['time', ({ at }) => new Date(at).toISOString()],
  ['type', ({ type }) => type],
  ['service', ({ service }) => service?.name ?? null],
  ['service_id', ({ serviceId }) => serviceId],
  ['node', ({ service }) => service?.nodeName ?? null],
  ['domain', ({ service }) => service?.domain ?? null],
  ['visitor', ({ source }) => source],
  ['person', ({ person }) => person],
  ['method', ({ method }) => method],
  ['path', ({ path }) => path],
  ['query', ({ query }) => query],
  ['status', ({ status }) => status],
  ['received', ({ received }) => received],
  ['sent', ({ sent }) => sent],
  ['connect_ms', ({ connect }) => connect],
  ['response_ms', ({ response }) => response],
  ['total_ms', ({ total }) => total],
  ['target', ({ target }) => target],
  ['reason', ({ reason }) => reason],
  ['why', ({ reason }) => (reason !== null && isReason(reason) ? REASONS[reason] : null)],
  ['detail', ({ detail }) => detail],
  ['edge', ({ edge }) => edge],
]

function renderCsvLine(request: ShownRequest): string {
  return `${COLUMNS.map(([, read]) => renderCell(read(request))).join(',')}\r\n`
}

function renderJsonLine(request: ShownRequest): string {
  const line = Object.fromEntries(COLUMNS.map(([name, read]) => [name, read(request)]))
  return `${JSON.stringify(line)}\n`
}

import { figures as endpoints } from '@postern/contract/endpoints/figures'
import type { Figures, FiguresSpan } from '@postern/contract/figures'
import { useQuery } from '@tanstack/react-query'
import type { Api } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import type { Subject } from './metrics.ts'
import { POINTS } from './times.ts'

/** Figures are new once a minute. */
const EVERY_MS = 60_000

/** The figures of anything that has some. */
export function useFigures(of: Subject, span: FiguresSpan) {
  const api = useApi()
  return useQuery({
    queryKey: [endpoints.allFigures.path, of, span],
    queryFn: ({ signal }) => readFigures(api, of, span, signal),
    refetchInterval: EVERY_MS,
  })
}

function readFigures(api: Api, of: Subject, span: FiguresSpan, signal: AbortSignal): Promise<Figures> {
  const input = { query: { span, points: POINTS[span] }, signal }
  switch (of.kind) {
    case 'service':
      return api.call(endpoints.serviceFigures, { ...input, params: { type: of.type, id: of.id } })
    case 'node':
      return api.call(endpoints.nodeFigures, { ...input, params: { id: of.id } })
    case 'domain':
      return api.call(endpoints.domainFigures, { ...input, params: { id: of.id } })
    case 'edge':
      return api.call(endpoints.edgeFigures, { ...input, params: { id: of.id } })
    case 'all':
      return api.call(endpoints.allFigures, input)
  }
}

import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Service } from '@postern/contract/services/services'
import type { QueryClient } from '@tanstack/react-query'
import { reload } from '../../api/queries.ts'

const LISTS = [
  [endpoints.listNodeServices.path],
  [endpoints.listServices.path],
  [endpoints.listAllServices.path],
]

/** Puts a saved service into every list that holds it, before the lists are loaded again. */
export function replaceService(queries: QueryClient, saved: Service): void {
  const replace = (rows: Service[]) => rows.map((row) => (row.id === saved.id ? saved : row))
  for (const queryKey of LISTS)
    queries.setQueriesData<{ data: Service[] }>({ queryKey }, (old) =>
      old ? { ...old, data: replace(old.data) } : old,
    )
}

/** Reloads every list of services on the screen. */
export async function refreshServices(queries: QueryClient): Promise<void> {
  await Promise.all(LISTS.map((queryKey) => reload(queries, { queryKey })))
}

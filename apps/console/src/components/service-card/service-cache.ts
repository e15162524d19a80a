import { endpoints } from '@postern/contract/endpoints'
import type { HttpService } from '@postern/contract/services'
import type { QueryClient } from '@tanstack/react-query'

const LISTS = [[endpoints.listNodeHttpServices.path], [endpoints.listHttpServices.path]]

/** Puts a saved service into every list that holds it, before the lists are asked for again. */
export function replaceService(queries: QueryClient, saved: HttpService): void {
  const replace = (rows: HttpService[]) => rows.map((row) => (row.id === saved.id ? saved : row))
  for (const queryKey of LISTS)
    queries.setQueriesData<{ data: HttpService[] }>({ queryKey }, (old) =>
      old ? { ...old, data: replace(old.data) } : old,
    )
}

/** Asks again for every list of services that is on the screen. */
export async function refreshServices(queries: QueryClient): Promise<void> {
  await Promise.all(LISTS.map((queryKey) => queries.invalidateQueries({ queryKey })))
}

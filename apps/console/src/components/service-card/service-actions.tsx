import { endpoints } from '@postern/contract/endpoints'
import type { HttpService } from '@postern/contract/services'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Power, Trash2 } from 'lucide-react'
import { useApi } from '../../api/context.ts'
import type { ConfirmOptions } from '../../ui/confirm.ts'
import { ask } from '../ask.ts'

/** Enables, disables and deletes a service, each after a question. */
export function useServiceActions() {
  const api = useApi()
  const queries = useQueryClient()
  const refresh = () => refreshServices(queries)
  const input = ({ nodeId, type, id }: HttpService) => ({ params: { nodeId, type, id } })

  return {
    enable: (service: HttpService) =>
      ask({
        question: confirmEnable(service),
        act: async () => replaceService(queries, await api.call(endpoints.enableService, input(service))),
        done: 'Service exposed successfully!',
        refresh,
      }),
    disable: (service: HttpService) =>
      ask({
        question: confirmDisable(service),
        act: async () => replaceService(queries, await api.call(endpoints.disableService, input(service))),
        done: 'Service disabled from public access successfully!',
        refresh,
      }),
    remove: (service: HttpService) =>
      ask({
        question: confirmDelete(service),
        act: () => api.call(endpoints.deleteService, input(service)),
        done: 'Service deleted successfully!',
        refresh,
      }),
  }
}

const LISTS = [[endpoints.listNodeServices.path], [endpoints.listServices.path]]

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

/** What is asked before a service changes, and what will happen. */
function confirmEnable({ name }: HttpService): ConfirmOptions {
  return {
    title: 'Enable access',
    description: (
      <>
        <b>{name}</b> becomes reachable from the internet at its public address again.
      </>
    ),
    variant: 'success',
    icon: Power,
    acceptButtonText: 'Yes, enable it!',
  }
}

function confirmDisable({ name }: HttpService): ConfirmOptions {
  return {
    title: 'Disable access',
    description: (
      <>
        Visitors of <b>{name}</b> see a page that says it is not available, and open connections end. Its
        settings are kept.
      </>
    ),
    icon: Power,
    acceptButtonText: 'Yes, disable it!',
  }
}

function confirmDelete({ name, publicAccess }: HttpService): ConfirmOptions {
  return {
    title: 'Delete service',
    description: (
      <>
        <b>{name}</b> is removed for good.
        {publicAccess && (
          <>
            {' '}
            Nothing answers at <span className="mono">{publicAccess}</span> any more.
          </>
        )}
      </>
    ),
    variant: 'danger',
    icon: Trash2,
    acceptButtonText: 'Yes, delete it!',
  }
}

import { endpoints } from '@postern/contract/endpoints'
import type { HttpService } from '@postern/contract/services'
import { useQueryClient } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { ask } from '../ask.ts'
import { refreshServices, replaceService } from './service-cache.ts'
import { confirmDelete, confirmDisable, confirmEnable } from './service-confirms.tsx'

/** Enables, disables and deletes a service, each after a question. */
export function useServiceActions() {
  const api = useApi()
  const queries = useQueryClient()
  const refresh = () => refreshServices(queries)
  const input = ({ nodeId, id }: HttpService) => ({ params: { nodeId, id } })

  return {
    enable: (service: HttpService) =>
      ask({
        question: confirmEnable(service),
        act: async () => replaceService(queries, await api.call(endpoints.enableHttpService, input(service))),
        done: 'Service exposed successfully!',
        refresh,
      }),
    disable: (service: HttpService) =>
      ask({
        question: confirmDisable(service),
        act: async () =>
          replaceService(queries, await api.call(endpoints.disableHttpService, input(service))),
        done: 'Service disabled from public access successfully!',
        refresh,
      }),
    remove: (service: HttpService) =>
      ask({
        question: confirmDelete(service),
        act: () => api.call(endpoints.deleteHttpService, input(service)),
        done: 'Service deleted successfully!',
        refresh,
      }),
  }
}

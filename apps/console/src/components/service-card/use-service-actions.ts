import { endpoints } from '@postern/contract/endpoints'
import type { HttpService } from '@postern/contract/services'
import { useQueryClient } from '@tanstack/react-query'
import { ApiError, wordsForError } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { type ConfirmOptions, confirm } from '../../ui/confirm.ts'
import { toast } from '../../ui/toast.ts'
import { refreshServices, replaceService } from './service-cache.ts'
import { confirmDelete, confirmDisable, confirmEnable } from './service-confirms.tsx'

/** Enables, disables and deletes a service, each after a question. */
export function useServiceActions() {
  const api = useApi()
  const queries = useQueryClient()

  async function ask(question: ConfirmOptions, act: () => Promise<unknown>, done: string): Promise<void> {
    if (!(await confirm(question))) return
    try {
      await act()
      toast.success(done)
    } catch (error) {
      // The client itself shows a 400.
      if (!(error instanceof ApiError && error.status === 400)) toast.error(wordsForError(error))
    }
    await refreshServices(queries)
  }
  const input = ({ nodeId, id }: HttpService) => ({ params: { nodeId, id } })

  return {
    enable: (service: HttpService) =>
      ask(
        confirmEnable(service),
        async () => replaceService(queries, await api.call(endpoints.enableHttpService, input(service))),
        'Service exposed successfully!',
      ),
    disable: (service: HttpService) =>
      ask(
        confirmDisable(service),
        async () => replaceService(queries, await api.call(endpoints.disableHttpService, input(service))),
        'Service disabled from public access successfully!',
      ),
    remove: (service: HttpService) =>
      ask(
        confirmDelete(service),
        () => api.call(endpoints.deleteHttpService, input(service)),
        'Service deleted successfully!',
      ),
  }
}

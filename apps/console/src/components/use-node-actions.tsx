import { endpoints } from '@postern/contract/endpoints'
import type { Node } from '@postern/contract/nodes'
import { useQueryClient } from '@tanstack/react-query'
import { Power, Trash2 } from 'lucide-react'
import { ApiError, wordsForError } from '../api/api-error.ts'
import { useApi } from '../api/context.ts'
import { type ConfirmOptions, confirm } from '../ui/confirm.ts'
import { toast } from '../ui/toast.ts'
import { saveFile } from '../util/save-file.ts'

/** What can be done with a node, each after its question; every function answers whether it was done. */
export function useNodeActions() {
  const api = useApi()
  const queries = useQueryClient()

  async function act(run: () => Promise<unknown>, done?: string): Promise<boolean> {
    try {
      await run()
    } catch (error) {
      // The client itself shows a 400.
      if (!(error instanceof ApiError && error.status === 400)) toast.error(wordsForError(error))
      return false
    }
    if (done) toast.success(done)
    await queries.invalidateQueries({ queryKey: [endpoints.listNodes.path] })
    return true
  }
  const ask = async (question: ConfirmOptions, run: () => Promise<unknown>, done: string) =>
    (await confirm(question)) && act(run, done)

  return {
    connect: (node: Node) =>
      ask(
        confirmConnect(node),
        () => api.call(endpoints.enableNode, { params: { id: node.id } }),
        'Node connected successfully!',
      ),
    disconnect: (node: Node) =>
      ask(
        CONFIRM_DISCONNECT,
        () => api.call(endpoints.disableNode, { params: { id: node.id } }),
        'Node disconnected successfully!',
      ),
    remove: (node: Node) =>
      ask(
        confirmRemove(node),
        () => api.call(endpoints.deleteNode, { params: { id: node.id } }),
        'Node deleted successfully!',
      ),
    download: (node: Node) =>
      act(async () => {
        const file = await api.download(endpoints.downloadNode, { params: { id: node.id } }, 'config.conf')
        saveFile(file.name, file.blob)
      }),
  }
}

const CONFIRM_DISCONNECT: ConfirmOptions = {
  title: 'Disconnect node',
  description:
    'This closes the tunnel. Its services stay configured but unreachable until it is connected again.',
  icon: Power,
  acceptButtonText: 'Yes, disconnect!',
}

function confirmConnect({ name }: Node): ConfirmOptions {
  return {
    title: 'Connect node',
    description: (
      <>
        <b>{name}</b> may open its tunnel again, and its services become reachable.
      </>
    ),
    variant: 'success',
    icon: Power,
    acceptButtonText: 'Yes, connect!',
  }
}

function confirmRemove({ name, services }: Node): ConfirmOptions {
  return {
    title: 'Delete node',
    description: (
      <>
        <b>{name}</b> {servicesWords(services)} removed for good.
        {services > 0 && ' Visitors see an error at once.'}
      </>
    ),
    variant: 'danger',
    icon: Trash2,
    acceptButtonText: 'Yes, delete it!',
  }
}

function servicesWords(count: number): string {
  if (count === 0) return 'and its access token are'
  return count === 1 ? 'and its 1 service are' : `and its ${count} services are`
}

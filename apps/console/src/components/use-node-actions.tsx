import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Node } from '@postern/contract/nodes'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Download, Power, Trash2 } from 'lucide-react'
import { useMemo } from 'react'
import { ApiError } from '../api/api-error.ts'
import type { Api } from '../api/client.ts'
import { useApi } from '../api/context.ts'
import { reload } from '../api/queries.ts'
import { TAKE_BACK_WORDS } from '../forms/fields/take-back.tsx'
import { type ConfirmOptions, confirm } from '../ui/overlay/confirm.ts'
import { saveFile } from '../util/browser.ts'
import { ask, attempt } from './ask.ts'
import { muteOrUnmute } from './mute/mute-item.ts'

/** The actions on a node, each after confirmation; every function returns whether it was done. */
export function useNodeActions() {
  const api = useApi()
  const queries = useQueryClient()
  return useMemo(() => nodeActions(api, queries), [api, queries])
}

export type NodeActions = ReturnType<typeof nodeActions>

function nodeActions(api: Api, queries: QueryClient) {
  const refresh = () => reload(queries, { queryKey: [endpoints.listNodes.path] })
  const save = async ({ id }: Node, replace?: 'true') => {
    const input = { params: { id }, query: { replace } }
    const file = await api.download(endpoints.downloadNode, input, 'config.conf')
    saveFile(file.name, file.blob)
  }
  return {
    connect: ({ id, name }: Node) =>
      ask({
        question: confirmConnect(name),
        act: () => api.call(endpoints.enableNode, { params: { id } }),
        done: 'Node connected successfully!',
        subject: name,
        refresh,
      }),
    disconnect: ({ id, name }: Node) =>
      ask({
        question: confirmDisconnect(name),
        act: (isChosen) =>
          api.call(endpoints.disableNode, { params: { id }, ...(isChosen && { takeBack: true }) }),
        done: 'Node disconnected successfully!',
        subject: name,
        refresh,
      }),
    remove: (node: Node) =>
      ask({
        question: confirmRemove(node),
        act: () => api.call(endpoints.deleteNode, { params: { id: node.id } }),
        done: 'Node deleted successfully!',
        subject: node.name,
        refresh,
      }),
    mute: (node: Node) =>
      muteOrUnmute(node, {
        mute: (body) => api.call(endpoints.muteNode, { params: { id: node.id }, body }),
        unmute: () => api.call(endpoints.unmuteNode, { params: { id: node.id }, body: {} }),
        refresh,
      }),
    download: (node: Node) =>
      attempt(async () => {
        try {
          await save(node)
        } catch (error) {
          if (!(error instanceof ApiError && error.code === 'agent_key')) throw error
          await confirm({ ...confirmReplaceKey(node.name), run: () => attempt(() => save(node, 'true')) })
        }
      }),
  }
}

function confirmReplaceKey(name: string): ConfirmOptions {
  return {
    title: 'Replace the key of this node',
    description: (
      <>
        The CLI on <b>{name}</b> created its own key. Downloading the file replaces that key and closes the
        CLI's tunnel.
      </>
    ),
    variant: 'danger',
    icon: Download,
    acceptButtonText: 'Yes, download!',
  }
}

function confirmDisconnect(name: string): ConfirmOptions {
  return {
    title: 'Disconnect node',
    description: (
      <>
        This closes the tunnel of <b>{name}</b>. Its services stay configured but unreachable until it is
        connected again.
      </>
    ),
    icon: Power,
    // Whoever works through one of its services may cut themselves off.
    choice: { ...TAKE_BACK_WORDS, isOff: true },
    acceptButtonText: 'Yes, disconnect!',
  }
}

function confirmConnect(name: string): ConfirmOptions {
  return {
    title: 'Connect node',
    description: (
      <>
        <b>{name}</b> can connect again. Its services come back when it does.
      </>
    ),
    variant: 'success',
    icon: Power,
    acceptButtonText: 'Yes, connect!',
  }
}

function confirmRemove({ name, services, tokens }: Node): ConfirmOptions {
  return {
    title: 'Delete node',
    description: (
      <>
        This permanently deletes <b>{name}</b>
        {contentsText(services, tokens)}.{services > 0 && ' Visitors will get an error immediately.'}
      </>
    ),
    variant: 'danger',
    icon: Trash2,
    acceptButtonText: 'Yes, delete it!',
  }
}

/** What is deleted with a node. */
function contentsText(services: number, tokens: number): string {
  const parts = [countText(services, 'service'), countText(tokens, 'access token')].filter(Boolean)
  return parts.length === 2
    ? `, its ${parts.join(' and its ')}`
    : parts.map((part) => ` and its ${part}`).join('')
}

function countText(count: number, noun: string): string {
  if (count === 0) return ''
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

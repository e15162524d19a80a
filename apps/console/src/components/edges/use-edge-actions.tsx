import type { Edge } from '@postern/contract/edge/edge'
import type { JoinToken } from '@postern/contract/edge/join'
import { endpoints as all } from '@postern/contract/endpoints/console-endpoints'
import { edges as endpoints } from '@postern/contract/endpoints/edges'
import { HEALTH_PATH } from '@postern/contract/reserved-paths'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { PlugZap, Trash2, Unplug } from 'lucide-react'
import { useMemo } from 'react'
import type { Api } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import { keyOf, reload } from '../../api/queries.ts'
import type { ConfirmOptions } from '../../ui/overlay/confirm.ts'
import { ask, attempt } from '../ask.ts'

/**
 * What an administrator does to an edge, after confirmation.
 * @param onJoin gets the token that was made, where one can be made; the same function each time
 */
export function useEdgeActions(onJoin: OnJoin = NOBODY) {
  const api = useApi()
  const queries = useQueryClient()
  return useMemo(() => edgeActions(api, queries, onJoin), [api, queries, onJoin])
}

const NOBODY: OnJoin = () => undefined

type OnJoin = (edge: Edge, join: JoinToken) => void

export type EdgeActions = ReturnType<typeof edgeActions>

function edgeActions(api: Api, queries: QueryClient, onJoin: OnJoin) {
  const refresh = () => reload(queries, { queryKey: [all.listEdges.path] })
  const act = ({ name }: Edge, question: ConfirmOptions, done: string, act: () => Promise<unknown>) =>
    ask({ question, act, done, subject: name, refresh })
  return {
    drain: (edge: Edge) =>
      act(edge, drainQuestion(edge, listOthers(queries, edge)), 'Edge drained successfully!', () =>
        api.call(endpoints.drainEdge, { params: { id: edge.id }, body: {} }),
      ),
    undrain: (edge: Edge) =>
      act(
        edge,
        {
          title: 'Undrain edge',
          description: (
            <>
              The health address of {named(edge)} answers 200 again, so whatever sends visitors to your edges
              sends them there, too.
            </>
          ),
          variant: 'success',
          icon: PlugZap,
          acceptButtonText: 'Yes, undrain!',
        },
        'Edge undrained successfully!',
        () => api.call(endpoints.undrainEdge, { params: { id: edge.id }, body: {} }),
      ),
    /** Nothing ends before a machine joins, so nothing is asked. */
    renew: (edge: Edge) =>
      attempt(async () => {
        const { id } = edge
        const join = await api.call(endpoints.makeJoinToken, { params: { id }, body: {} })
        await refresh()
        onJoin(edge, join)
      }),
    remove: (edge: Edge) =>
      act(edge, removeQuestion(edge), 'Edge removed successfully!', () =>
        api.call(endpoints.removeEdge, { params: { id: edge.id } }),
      ),
  }
}

/** The edges that visitors can go to instead. */
function listOthers(queries: QueryClient, { id }: Edge): Edge[] {
  const edges = queries.getQueryData<Edge[]>(keyOf(all.listEdges, {})) ?? []
  return edges.filter((other) => other.id !== id && other.connected && !other.isDrained)
}

function drainQuestion(edge: Edge, others: readonly Edge[]): ConfirmOptions {
  return {
    title: 'Drain edge',
    description: (
      <>
        The health address of {named(edge)}, <code>{HEALTH_PATH}</code>, answers 503, so whatever sends
        visitors to your edges sends new ones elsewhere. Open connections and everything else go on.
        {others.length === 0 && ' No other edge is ready for visitors now.'}
      </>
    ),
    ...(others.length === 0 && { variant: 'danger' as const }),
    icon: Unplug,
    acceptButtonText: 'Yes, drain!',
  }
}

function removeQuestion(edge: Edge): ConfirmOptions {
  return {
    title: 'Remove edge',
    description: edge.isJoined ? (
      <>
        The server refuses {named(edge)} at once, and nodes end their tunnels to it. Its machine goes on with
        what it has until you stop it there: run <code>postern-edge leave</code>. Send visitors elsewhere
        first.
      </>
    ) : (
      <>This removes {named(edge)}, which no machine has joined. Its token no longer works.</>
    ),
    variant: 'danger',
    icon: Trash2,
    acceptButtonText: 'Yes, remove it!',
  }
}

const named = ({ name }: Edge) => <b dir="auto">{name}</b>

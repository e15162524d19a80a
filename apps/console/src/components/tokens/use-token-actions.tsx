import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Page } from '@postern/contract/lists'
import type { CreatedPat, Pat } from '@postern/contract/pats'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Ban, RefreshCw, Trash2 } from 'lucide-react'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import type { ConfirmOptions } from '../../ui/overlay/confirm.ts'
import { ask } from '../ask.ts'

/** Rotates, revokes and deletes an access token, each after confirmation. The row changes with the answer. */
export function useTokenActions() {
  const api = useApi()
  const queries = useQueryClient()
  const refresh = () => refreshTokens(queries)
  const input = ({ nodeId, id }: Pat, forgetsKey: boolean) => ({
    params: { nodeId, id },
    query: forgetsKey ? { forgetKey: 'true' as const } : {},
  })
  return {
    /** @param onCreated gets the new token, whose value is to be shown now or never */
    rotate: (token: Pat, onCreated: (created: CreatedPat) => void) =>
      ask({
        question: confirmRotate(token),
        act: async () =>
          onCreated(await api.call(endpoints.rotateToken, { params: input(token, false).params })),
        done: 'Access token created',
        subject: token.name,
        refresh,
      }),
    revoke: (token: Pat) =>
      ask({
        question: confirmRevoke(token),
        act: async (forgetsKey) => {
          const revoked = await api.call(endpoints.revokeToken, input(token, forgetsKey))
          changeRows(queries, (rows) => rows.map((row) => (row.id === token.id ? revoked : row)))
        },
        done: 'Personal Access Token revoked successfully!',
        subject: token.name,
        refresh,
      }),
    remove: (token: Pat) =>
      ask({
        question: confirmDelete(token),
        act: async (forgetsKey) => {
          await api.call(endpoints.deleteToken, input(token, forgetsKey))
          changeRows(queries, (rows) => rows.filter(({ id }) => id !== token.id))
        },
        done: 'Personal Access Token deleted successfully!',
        subject: token.name,
        refresh,
      }),
  }
}

const LISTS = { queryKey: [endpoints.listTokens.path] }

export async function refreshTokens(queries: QueryClient): Promise<void> {
  await reload(queries, LISTS)
}

function changeRows(queries: QueryClient, change: (rows: Pat[]) => Pat[]): void {
  queries.setQueriesData<Page<Pat>>(LISTS, (page) => page && { ...page, data: change(page.data) })
}

function confirmRotate({ name }: Pat): ConfirmOptions {
  return {
    title: 'Rotate Access Token',
    description: (
      <>
        A new token replaces <b>{name}</b>. The old one works until the new one is used, and is revoked then.
      </>
    ),
    icon: RefreshCw,
    acceptButtonText: 'Create New Token',
  }
}

function confirmRevoke(token: Pat): ConfirmOptions {
  const { name } = token
  return {
    title: 'Revoke Personal Access Token',
    description: (
      <>
        Revoking <b>{name}</b> disables the token's access but does not necessarily end an active tunnel
        {token.broughtKey ? '.' : '. If the token is compromised, disable the node too.'}
      </>
    ),
    ...choiceOf(token),
    variant: 'danger',
    icon: Ban,
    acceptButtonText: 'Yes, revoke token!',
  }
}

function confirmDelete(token: Pat): ConfirmOptions {
  const { name } = token
  return {
    title: 'Delete Personal Access Token',
    description: (
      <>
        Deletion of <b>{name}</b> is permanent and does not necessarily disconnect an active tunnel.
      </>
    ),
    ...choiceOf(token),
    variant: 'danger',
    icon: Trash2,
    acceptButtonText: 'Yes, delete it!',
  }
}

/** A token's effects outlive it: a machine with the node's key stays in the tunnel, and services stay published. */
function choiceOf({ broughtKey, published }: Pat): Pick<ConfirmOptions, 'choice'> {
  if (!broughtKey && published === 0) return {}
  const key =
    'It was registered with this token. The tunnel ends until a machine connects with another token.'
  const services =
    published === 1
      ? '1 service that it published is deleted.'
      : `${published} services that it published are deleted.`
  return {
    choice: {
      label: broughtKey ? "Forget the node's key too" : 'Delete what it published too',
      text: [broughtKey && key, published > 0 && services].filter(Boolean).join(' '),
    },
  }
}

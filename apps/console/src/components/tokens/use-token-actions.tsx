import { endpoints } from '@postern/contract/console-endpoints'
import type { Page } from '@postern/contract/lists'
import type { Pat } from '@postern/contract/pats'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Ban, Trash2 } from 'lucide-react'
import { useApi } from '../../api/context.ts'
import type { ConfirmOptions } from '../../ui/confirm.ts'
import { ask } from '../ask.ts'

/** Revokes and deletes an access token, each after a question. The row changes with the answer. */
export function useTokenActions() {
  const api = useApi()
  const queries = useQueryClient()
  const refresh = () => refreshTokens(queries)
  const input = ({ nodeId, id }: Pat) => ({ params: { nodeId, id } })
  return {
    revoke: (token: Pat) =>
      ask({
        question: confirmRevoke(token),
        act: async () => {
          const revoked = await api.call(endpoints.revokeToken, input(token))
          changeRows(queries, (rows) => rows.map((row) => (row.id === token.id ? revoked : row)))
        },
        done: 'Personal Access Token revoked successfully!',
        refresh,
      }),
    remove: (token: Pat) =>
      ask({
        question: confirmDelete(token),
        act: async () => {
          await api.call(endpoints.deleteToken, input(token))
          changeRows(queries, (rows) => rows.filter(({ id }) => id !== token.id))
        },
        done: 'Personal Access Token deleted successfully!',
        refresh,
      }),
  }
}

const LISTS = { queryKey: [endpoints.listTokens.path] }

export async function refreshTokens(queries: QueryClient): Promise<void> {
  await queries.invalidateQueries(LISTS)
}

function changeRows(queries: QueryClient, change: (rows: Pat[]) => Pat[]): void {
  queries.setQueriesData<Page<Pat>>(LISTS, (page) => page && { ...page, data: change(page.data) })
}

function confirmRevoke({ name }: Pat): ConfirmOptions {
  return {
    title: 'Revoke Personal Access Token',
    description: (
      <>
        Revoking <b>{name}</b> disables the token's access but does not necessarily end an active tunnel. If
        the token is compromised, disable the node too.
      </>
    ),
    variant: 'danger',
    icon: Ban,
    acceptButtonText: 'Yes, revoke token!',
  }
}

function confirmDelete({ name }: Pat): ConfirmOptions {
  return {
    title: 'Delete Personal Access Token',
    description: (
      <>
        Deletion of <b>{name}</b> is permanent and does not necessarily disconnect an active tunnel.
      </>
    ),
    variant: 'danger',
    icon: Trash2,
    acceptButtonText: 'Yes, delete it!',
  }
}

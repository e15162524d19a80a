import { many } from '@postern/contract/endpoints/many'
import type { Pat } from '@postern/contract/pats'
import { useQueryClient } from '@tanstack/react-query'
import { Ban, Trash2 } from 'lucide-react'
import { useApi } from '../../api/context.ts'
import type { List } from '../../table/use-list.ts'
import type { Selection } from '../../table/use-selection.ts'
import type { ConfirmOptions } from '../../ui/overlay/confirm.ts'
import { refreshTokens } from '../tokens/use-token-actions.tsx'
import { ManyBar } from './ManyBar.tsx'
import { askForMany, runMany } from './many-action.ts'
import { countText, NOUNS } from './many-text.ts'
import { reachOf, themOf, whichOf } from './which.ts'

type Action = 'revoke' | 'delete'

const VERBS = {
  revoke: { doing: 'Revoking', done: 'revoked' },
  delete: { doing: 'Deleting', done: 'deleted' },
} as const

interface Props {
  nodeId: number
  list: List<Pat>
  selection: Selection<Pat>
}

/** What can be done with many access tokens of a node. */
export function TokensBar({ nodeId, list, selection }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const run = async (action: Action) => {
    const answer = await askForMany(questionOf(action, selection))
    if (!answer) return
    const which = whichOf(selection, { search: list.params.search })
    selection.clear()
    await runMany<{ id: number }>({
      noun: NOUNS.token,
      verb: VERBS[action],
      which,
      send: (part) =>
        api.call(many.changeTokens, {
          params: { nodeId },
          body: { action, forgetKey: answer.isChosen, ...part },
        }),
      refresh: () => refreshTokens(queries),
    })
  }
  return (
    <ManyBar
      selection={selection}
      noun={NOUNS.token}
      actions={[
        { text: 'Revoke', icon: Ban, run: () => void run('revoke') },
        { text: 'Delete', icon: Trash2, danger: true, run: () => void run('delete') },
      ]}
    />
  )
}

function questionOf(action: Action, selection: Selection<Pat>): ConfirmOptions {
  const { count, isAll, rows } = selection
  const [what, them] = [countText(count, NOUNS.token), themOf(count)]
  const isRevoking = action === 'revoke'
  const brought = isAll || rows.some(({ broughtKey, published }) => broughtKey || published > 0)
  return {
    title: `${isRevoking ? 'Revoke' : 'Delete'} ${what}?`,
    description: `${reachOf(selection)}${isRevoking ? 'Access with' : 'Deleting'} ${them} ${isRevoking ? 'ends' : 'is permanent'}, which does not necessarily end an active tunnel. It cannot be undone.`,
    ...(brought && {
      choice: {
        label: 'Forget what came by them too',
        text: 'A key that was registered with one of them is forgotten, so that the tunnel ends until a machine connects with another token. Services that were published with them are deleted.',
      },
    }),
    variant: 'danger',
    icon: isRevoking ? Ban : Trash2,
    acceptButtonText: `Yes, ${action} ${them}!`,
  }
}

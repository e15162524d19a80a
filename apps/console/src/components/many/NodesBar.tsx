import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { many } from '@postern/contract/endpoints/many'
import type { Node } from '@postern/contract/nodes'
import { useQueryClient } from '@tanstack/react-query'
import { Power, Trash2, Unplug } from 'lucide-react'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import type { List } from '../../table/use-list.ts'
import type { Selection } from '../../table/use-selection.ts'
import type { ConfirmOptions } from '../../ui/overlay/confirm.ts'
import { ManyBar } from './ManyBar.tsx'
import { askForMany, runMany } from './many-action.ts'
import { countText, NOUNS } from './many-text.ts'
import { reachOf, themOf, whichOf } from './which.ts'

type Action = 'enable' | 'disable' | 'delete'
type Record = { id: number; updated_at?: string | undefined }

const VERBS = {
  enable: { doing: 'Connecting', done: 'connected' },
  disable: { doing: 'Disconnecting', done: 'disconnected' },
  delete: { doing: 'Deleting', done: 'deleted' },
} as const
const BACK = { enable: 'disable', disable: 'enable' } as const

interface Props {
  list: List<Node>
  selection: Selection<Node>
}

/** What can be done with many nodes. */
export function NodesBar({ list, selection }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const { search, type } = list.params
  const send = (action: Action) => (part: object) => api.call(many.changeNodes, { body: { action, ...part } })
  const run = async (action: Action) => {
    if (!(await askForMany(questionOf(action, selection)))) return
    const which = whichOf(selection, { search, type })
    selection.clear()
    const back = action === 'delete' ? undefined : BACK[action]
    await runMany<Record>({
      noun: NOUNS.node,
      verb: VERBS[action],
      which,
      send: send(action),
      refresh: () => reload(queries, { queryKey: [endpoints.listNodes.path] }),
      ...(back && {
        undo: {
          verb: { doing: VERBS[back].doing, done: `${VERBS[back].done} again` },
          recordOf: ({ id, updated_at }) => ({ id, updated_at: updated_at ?? undefined }),
          send: send(back),
        },
      }),
    })
  }
  return (
    <ManyBar
      selection={selection}
      noun={NOUNS.node}
      actions={[
        { text: 'Connect', icon: Power, run: () => void run('enable') },
        { text: 'Disconnect', icon: Unplug, run: () => void run('disable') },
        { text: 'Delete', icon: Trash2, danger: true, run: () => void run('delete') },
      ]}
    />
  )
}

function questionOf(action: Action, selection: Selection<Node>): ConfirmOptions {
  const { count, isAll, rows } = selection
  const [what, them, reach] = [countText(count, NOUNS.node), themOf(count), reachOf(selection)]
  if (action === 'enable')
    return {
      title: `Connect ${what}?`,
      description: `${reach}Services come back when their node does.`,
      variant: 'success',
      icon: Power,
      acceptButtonText: `Yes, connect ${them}!`,
    }
  if (action === 'disable')
    return {
      title: `Disconnect ${what}?`,
      description: `${reach}Tunnels are closed. Services stay configured but unreachable until their node is connected again.`,
      icon: Power,
      acceptButtonText: `Yes, disconnect ${them}!`,
    }
  const services = rows.reduce((all, node) => all + node.services, 0)
  const carried = isAll || services > 0
  const contents = isAll ? 'all their services' : countText(services, NOUNS.service)
  return {
    title: `Delete ${what}?`,
    description: `${reach}This also deletes access tokens${carried ? ` and ${contents}` : ''}, and cannot be undone.${carried ? ' Visitors will get an error immediately.' : ''}`,
    variant: 'danger',
    icon: Trash2,
    acceptButtonText: `Yes, delete ${them}!`,
  }
}

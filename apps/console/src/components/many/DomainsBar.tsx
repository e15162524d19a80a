import type { Domain } from '@postern/contract/domains'
import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { many } from '@postern/contract/endpoints/many'
import { useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import type { List } from '../../table/use-list.ts'
import type { Selection } from '../../table/use-selection.ts'
import { ManyBar } from './ManyBar.tsx'
import { askForMany, runMany } from './many-action.ts'
import { countText, NOUNS } from './many-text.ts'
import { reachOf, themOf, whichOf } from './which.ts'

interface Props {
  list: List<Domain>
  selection: Selection<Domain>
}

/** What can be done with many domains. */
export function DomainsBar({ list, selection }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const remove = async () => {
    const { count } = selection
    const them = themOf(count)
    const isAccepted = await askForMany({
      title: `Delete ${countText(count, NOUNS.domain)}?`,
      description: `${reachOf(selection)}This deletes certificates too, and cannot be undone. Domains that services still use are kept.`,
      variant: 'danger',
      icon: Trash2,
      acceptButtonText: `Yes, delete ${them}!`,
    })
    if (!isAccepted) return
    const which = whichOf(selection, { search: list.params.search })
    selection.clear()
    await runMany<{ id: number }>({
      noun: NOUNS.domain,
      verb: { doing: 'Deleting', done: 'deleted' },
      which,
      send: (part) => api.call(many.changeDomains, { body: { action: 'delete', ...part } }),
      refresh: () => reload(queries, { queryKey: [endpoints.listDomains.path] }),
    })
  }
  return (
    <ManyBar
      selection={selection}
      noun={NOUNS.domain}
      actions={[{ text: 'Delete', icon: Trash2, danger: true, run: () => void remove() }]}
    />
  )
}

import { endpoints } from '@postern/contract/console-endpoints'
import { titleOfSource } from '@postern/contract/publishing'
import type { Service } from '@postern/contract/services'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { ArrowRight, Eye, Info, Pencil, Power, ScrollText, Trash2 } from 'lucide-react'
import { useMemo } from 'react'
import type { Api } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import type { Rules } from '../../api/rules.ts'
import type { ConfirmOptions } from '../../ui/overlay/confirm.ts'
import type { MenuGroups } from '../../ui/overlay/OpenMenu.tsx'
import { ask } from '../ask.ts'

export interface ServiceVerbs {
  info: () => void
  logs: () => void
  /** In the context of its node a service can be edited; elsewhere the menu leads to the node. */
  edit?: () => void
  goToNode?: () => void
  enable: () => void
  disable: () => void
  remove: () => void
}

const EDIT = { text: 'Edit Service', icon: Pencil }
/** For a service that cannot be changed here. */
const SHOW = { text: 'Show Settings', icon: Eye }

/** What can be done with a service. */
export function serviceMenu(service: Service, can: Rules['service'], verbs: ServiceVerbs): MenuGroups {
  const access = service.enabled
    ? { text: 'Disable Access', icon: Power, onSelect: verbs.disable }
    : { text: 'Enable Access', icon: Power, onSelect: verbs.enable }
  const remove = { text: 'Delete Service', icon: Trash2, danger: true, onSelect: verbs.remove }
  return [
    [
      { text: 'Info', icon: Info, onSelect: verbs.info },
      { text: 'Logs Monitor', icon: ScrollText, onSelect: verbs.logs },
    ],
    [
      verbs.edit !== undefined && { ...(can.edit(service) ? EDIT : SHOW), onSelect: verbs.edit },
      verbs.goToNode !== undefined && { text: 'Go to node', icon: ArrowRight, onSelect: verbs.goToNode },
    ],
    [can.enable(service) && access, can.remove(service) && remove],
  ]
}

/** Enables, disables and deletes a service, each after a question. */
export function useServiceActions() {
  const api = useApi()
  const queries = useQueryClient()
  return useMemo(() => serviceActions(api, queries), [api, queries])
}

function serviceActions(api: Api, queries: QueryClient) {
  const refresh = () => refreshServices(queries)
  const input = ({ nodeId, type, id }: Service) => ({ params: { nodeId, type, id } })

  return {
    enable: (service: Service) =>
      ask({
        question: confirmEnable(service),
        act: async () => replaceService(queries, await api.call(endpoints.enableService, input(service))),
        done: 'Service exposed successfully!',
        subject: service.name,
        refresh,
      }),
    disable: (service: Service) =>
      ask({
        question: confirmDisable(service),
        act: async () => replaceService(queries, await api.call(endpoints.disableService, input(service))),
        done: 'Service disabled from public access successfully!',
        subject: service.name,
        refresh,
      }),
    remove: (service: Service) =>
      ask({
        question: confirmDelete(service),
        act: () => api.call(endpoints.deleteService, input(service)),
        done: 'Service deleted successfully!',
        subject: service.name,
        refresh,
      }),
  }
}

const LISTS = [[endpoints.listNodeServices.path], [endpoints.listServices.path]]

/** Puts a saved service into every list that holds it, before the lists are loaded again. */
export function replaceService(queries: QueryClient, saved: Service): void {
  const replace = (rows: Service[]) => rows.map((row) => (row.id === saved.id ? saved : row))
  for (const queryKey of LISTS)
    queries.setQueriesData<{ data: Service[] }>({ queryKey }, (old) =>
      old ? { ...old, data: replace(old.data) } : old,
    )
}

/** Reloads every list of services on the screen. */
export async function refreshServices(queries: QueryClient): Promise<void> {
  await Promise.all(LISTS.map((queryKey) => reload(queries, { queryKey })))
}

/** What is asked before a service changes, and what will happen. */
function confirmEnable({ name }: Service): ConfirmOptions {
  return {
    title: 'Enable access',
    description: (
      <>
        <b>{name}</b> becomes reachable from the internet at its public address again.
      </>
    ),
    variant: 'success',
    icon: Power,
    acceptButtonText: 'Yes, enable it!',
  }
}

function confirmDisable({ name, type }: Service): ConfirmOptions {
  return {
    title: 'Disable access',
    description:
      type === 'http' ? (
        <>
          Visitors to <b>{name}</b> will see that it is unavailable, and open connections end. Its settings
          are kept.
        </>
      ) : (
        <>
          New connections to <b>{name}</b> are refused, and open ones end. Its settings and its port are kept.
        </>
      ),
    icon: Power,
    acceptButtonText: 'Yes, disable it!',
  }
}

function confirmDelete({ name, publicAccess, source, nodeName }: Service): ConfirmOptions {
  return {
    title: 'Delete service',
    description: (
      <>
        {source === null ? (
          <>
            This permanently deletes <b>{name}</b>.
          </>
        ) : (
          <>
            <b>{name}</b> comes back when {titleOfSource(source)} on <b>{nodeName}</b> publishes it again. To
            keep it away, disable it instead.
          </>
        )}
        {publicAccess && (
          <>
            {' '}
            <span className="mono">{publicAccess}</span> stops working immediately.
          </>
        )}
      </>
    ),
    variant: 'danger',
    icon: Trash2,
    acceptButtonText: 'Yes, delete it!',
  }
}

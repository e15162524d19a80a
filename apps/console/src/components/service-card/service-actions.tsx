import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { titleOfSource } from '@postern/contract/services/publishing'
import type { Service } from '@postern/contract/services/services'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import {
  ArrowRight,
  ChartLine,
  Eye,
  FileClock,
  History,
  Info,
  Pencil,
  Power,
  ScrollText,
  Trash2,
  Waypoints,
} from 'lucide-react'
import { useMemo } from 'react'
import { useNavigate } from 'react-router'
import type { Api } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import type { Rules } from '../../api/rules.ts'
import type { ConfirmOptions } from '../../ui/overlay/confirm.ts'
import type { MenuGroups } from '../../ui/overlay/OpenMenu.tsx'
import { urls } from '../../util/urls.ts'
import { ask } from '../ask.ts'
import { manyServices } from '../many/many-services.ts'
import { muteItem, muteOrUnmute } from '../mute/mute-item.ts'
import { refreshServices, replaceService } from './service-lists.ts'

export interface ServiceVerbs {
  info: () => void
  logs: () => void
  /** Absent where nothing reaches it. */
  why?: () => void
  requests: () => void
  traffic: () => void
  history: () => void
  /** In the context of its node a service can be edited; elsewhere the menu leads to the node. */
  edit?: () => void
  goToNode?: () => void
  enable: () => void
  disable: () => void
  mute: () => void
  remove: () => void
}

const EDIT = { text: 'Edit Service', icon: Pencil }
/** For a service that cannot be changed here. */
const SHOW = { text: 'Show Settings', icon: Eye }

/** The menu of a service. */
export function serviceMenu(service: Service, can: Rules['service'], verbs: ServiceVerbs): MenuGroups {
  const access = service.enabled
    ? { text: 'Disable Access', icon: Power, onSelect: verbs.disable }
    : { text: 'Enable Access', icon: Power, onSelect: verbs.enable }
  const remove = { text: 'Delete Service', icon: Trash2, danger: true, onSelect: verbs.remove }
  return [
    [
      { text: 'Info', icon: Info, onSelect: verbs.info },
      { text: 'Logs Monitor', icon: ScrollText, onSelect: verbs.logs },
      verbs.why !== undefined && { text: 'Why?', icon: Waypoints, onSelect: verbs.why },
      { text: 'Requests', icon: History, onSelect: verbs.requests },
      { text: 'Traffic', icon: ChartLine, onSelect: verbs.traffic },
      { text: 'History', icon: FileClock, onSelect: verbs.history },
    ],
    [
      verbs.edit !== undefined && { ...(can.edit(service) ? EDIT : SHOW), onSelect: verbs.edit },
      verbs.goToNode !== undefined && { text: 'Go to node', icon: ArrowRight, onSelect: verbs.goToNode },
    ],
    [can.mute(service) && muteItem(service, verbs.mute)],
    [can.enable(service) && access, can.remove(service) && remove],
  ]
}

/** What of that is the same everywhere: where it leads, and enabling, disabling and deleting after a question. */
export function useServiceVerbs() {
  const navigate = useNavigate()
  const api = useApi()
  const queries = useQueryClient()
  return useMemo(() => {
    const actions = serviceActions(api, queries)
    return (service: Service) => ({
      logs: () => void navigate(urls.serviceLogs(service)),
      ...(service.publicAccess !== null && {
        why: () => void navigate(urls.why(service.publicAccess ?? '')),
      }),
      requests: () => void navigate(urls.requests({ service: String(service.id) })),
      traffic: () => void navigate(urls.serviceTraffic(service)),
      history: () => void navigate(urls.serviceHistory(service)),
      enable: () => void actions.enable(service),
      disable: () => void actions.disable(service),
      mute: () => void actions.mute(service),
      remove: () => void actions.remove(service),
    })
  }, [navigate, api, queries])
}

function serviceActions(api: Api, queries: QueryClient) {
  const refresh = () => refreshServices(queries)
  const input = ({ nodeId, type, id }: Service) => ({ params: { nodeId, type, id } })
  const many = manyServices(api, queries)
  const turn = (action: 'enable' | 'disable', service: Service, question: ConfirmOptions, done: string) => {
    const endpoint = action === 'enable' ? endpoints.enableService : endpoints.disableService
    let saved = service
    return ask({
      question,
      act: async () => {
        saved = await api.call(endpoint, input(service))
        replaceService(queries, saved)
      },
      done,
      subject: service.name,
      undo: () => void many.undo(action, saved),
      refresh,
    })
  }

  return {
    enable: (service: Service) =>
      turn('enable', service, confirmEnable(service), 'Service exposed successfully!'),
    disable: (service: Service) =>
      turn('disable', service, confirmDisable(service), 'Service disabled from public access successfully!'),
    mute: (service: Service) =>
      muteOrUnmute(service, {
        mute: (body) => api.call(endpoints.muteService, { ...input(service), body }),
        unmute: () => api.call(endpoints.unmuteService, { ...input(service), body: {} }),
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

/** The confirmation before a service changes: what will happen. */
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

import { many } from '@postern/contract/endpoints/many'
import type { ServicePlace } from '@postern/contract/services/many'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Power, Trash2 } from 'lucide-react'
import { useMemo } from 'react'
import type { Api } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import type { ConfirmOptions } from '../../ui/overlay/confirm.ts'
import { refreshServices } from '../service-card/service-lists.ts'
import { askForMany, type ManyVerb, runMany } from './many-action.ts'
import { countText, NOUNS } from './many-text.ts'
import type { Which } from './run-parts.ts'
import { themOf } from './which.ts'

type Switch = 'enable' | 'disable'
type Record = { id: number; updated_at?: string | undefined; to?: ServicePlace | undefined }
/** What the server says of a service that it changed. */
type Changed = { id: number; updated_at: string | null }

const VERBS = {
  enable: { doing: 'Enabling', done: 'enabled' },
  disable: { doing: 'Disabling', done: 'disabled' },
  delete: { doing: 'Deleting', done: 'deleted' },
  move: { doing: 'Moving', done: 'moved' },
} as const
const BACK = { enable: 'disable', disable: 'enable' } as const
const MOVED_BACK: ManyVerb = { doing: 'Moving back', done: 'moved back' }
const again = ({ doing, done }: ManyVerb): ManyVerb => ({ doing, done: `${done} again` })

/** Which services, and what is said of them in a question. */
export interface Meant {
  which: Which<Record>
  count: number
  /** Which they are, where the page does not show all of them. */
  reach: string
}

/** Enables, disables, deletes and moves many services. */
export function useManyServices() {
  const api = useApi()
  const queries = useQueryClient()
  return useMemo(() => manyServices(api, queries), [api, queries])
}

export function manyServices(api: Api, queries: QueryClient) {
  const send = (form: { action: keyof typeof VERBS; to?: ServicePlace }) => (part: object) =>
    api.call(many.changeServices, { body: { ...form, ...part } })
  const common = { noun: NOUNS.service, refresh: () => refreshServices(queries) }
  const backOf = (action: Switch) => {
    const back = BACK[action]
    return { verb: again(VERBS[back]), recordOf: seenSo, send: send({ action: back }) }
  }
  const change = (action: Switch | 'delete', which: Which<Record>) =>
    runMany<Record>({
      ...{ ...common, which, verb: VERBS[action], send: send({ action }) },
      ...(action !== 'delete' && { undo: backOf(action) }),
    })
  return {
    /** Asks once. @param begin called when it was accepted */
    change: async (action: Switch | 'delete', meant: Meant, begin?: () => void) => {
      if (!(await askForMany(questionOf(action, meant)))) return
      begin?.()
      await change(action, meant.which)
    },
    move: (to: ServicePlace, which: Which<Record>) =>
      runMany<Record>({
        ...{ ...common, which, verb: VERBS.move, send: send({ action: 'move', to }) },
        undo: {
          verb: MOVED_BACK,
          recordOf: (done) => ({ ...seenSo(done), to: done.from }),
          send: send({ action: 'move' }),
        },
      }),
    /** Brings back one that was just enabled or disabled. */
    undo: (action: Switch, changed: Changed) =>
      runMany<Record>({ ...common, ...backOf(action), which: { records: [seenSo(changed)] } }),
  }
}

/** It is brought back only as it was left. */
function seenSo({ id, updated_at }: Changed): Record {
  return { id, ...(updated_at !== null && { updated_at }) }
}

function questionOf(action: Switch | 'delete', { count, reach }: Meant): ConfirmOptions {
  const [what, them] = [countText(count, NOUNS.service), themOf(count)]
  if (action === 'enable')
    return {
      title: `Enable ${what}?`,
      description: `${reach}Visitors reach ${them} again at the public address.`,
      variant: 'success',
      icon: Power,
      acceptButtonText: `Yes, enable ${them}!`,
    }
  if (action === 'disable')
    return {
      title: `Disable ${what}?`,
      description: `${reach}Visitors are turned away and open connections end. Settings and ports are kept.`,
      icon: Power,
      acceptButtonText: `Yes, disable ${them}!`,
    }
  return {
    title: `Delete ${what}?`,
    description: `${reach}This cannot be undone, and the public addresses stop working immediately. What an agent publishes comes back when it publishes it again; to keep it away, disable it instead.`,
    variant: 'danger',
    icon: Trash2,
    acceptButtonText: `Yes, delete ${them}!`,
  }
}

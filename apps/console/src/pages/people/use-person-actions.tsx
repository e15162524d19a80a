import { factors } from '@postern/contract/endpoints/factors'
import { people as endpoints } from '@postern/contract/endpoints/people'
import type { InvitedPerson, Person } from '@postern/contract/people/people'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Ban, LogOut, Power, ShieldOff, Trash2, Unlink } from 'lucide-react'
import { useMemo } from 'react'
import type { Api } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { ask, attempt } from '../../components/ask.ts'
import type { ConfirmOptions } from '../../ui/overlay/confirm.ts'

/**
 * What an administrator does to a person, after confirmation.
 * @param onInvited gets the link that was made; the same function each time, as are others
 * @param askWhere asks where a new link is sent; undefined where none can be
 */
export function usePersonActions(onInvited: OnInvited, askWhere?: (person: Person) => void) {
  const api = useApi()
  const queries = useQueryClient()
  return useMemo(() => personActions(api, queries, onInvited, askWhere), [api, queries, onInvited, askWhere])
}

type OnInvited = (invited: InvitedPerson, email: null) => void

export type PersonActions = ReturnType<typeof personActions>

function personActions(
  api: Api,
  queries: QueryClient,
  onInvited: OnInvited,
  askWhere: ((person: Person) => void) | undefined,
) {
  const refresh = () => reload(queries, { queryKey: [endpoints.listPeople.path] })
  const renew = async ({ id }: Person) => {
    onInvited(await api.call(endpoints.renewInvite, { params: { id }, body: {} }), null)
  }
  const act = ({ username }: Person, question: ConfirmOptions, done: string, act: () => Promise<unknown>) =>
    ask({ question, act, done, subject: username, refresh })
  return {
    /** Nothing ends before the link is used. */
    renew: (person: Person) =>
      askWhere
        ? askWhere(person)
        : attempt(async () => {
            await renew(person)
            await refresh()
          }),
    enable: (person: Person) =>
      act(
        person,
        {
          title: 'Enable person',
          description: <>{named(person)} can sign in again, with the same password.</>,
          variant: 'success',
          icon: Power,
          acceptButtonText: 'Yes, enable!',
        },
        'Person enabled successfully!',
        () => api.call(endpoints.enablePerson, { params: { id: person.id } }),
      ),
    disable: (person: Person, isSelf: boolean) =>
      act(
        person,
        {
          title: 'Disable person',
          description: (
            <>
              {named(person)} is signed out within seconds and cannot sign in. Their API tokens end for good;
              everything else stays.
              {isSelf && SELF}
            </>
          ),
          icon: Power,
          acceptButtonText: 'Yes, disable!',
        },
        'Person disabled successfully!',
        () => api.call(endpoints.disablePerson, { params: { id: person.id } }),
      ),
    endSessions: (person: Person, isSelf: boolean) =>
      act(
        person,
        {
          title: 'End all sessions',
          description: (
            <>
              {named(person)} is signed out everywhere within seconds, and can sign in again.
              {isSelf && SELF}
            </>
          ),
          icon: LogOut,
          acceptButtonText: 'Yes, end them!',
        },
        'Sessions ended successfully!',
        () => api.call(endpoints.endPersonSessions, { params: { id: person.id } }),
      ),
    endTokens: (person: Person) =>
      act(
        person,
        {
          title: 'End API tokens',
          description: (
            <>
              All programs with an API token of {named(person)} are refused from their next request on. This
              cannot be undone.
            </>
          ),
          variant: 'danger',
          icon: Ban,
          acceptButtonText: 'Yes, end them!',
        },
        'API tokens ended successfully!',
        () => api.call(endpoints.endPersonTokens, { params: { id: person.id } }),
      ),
    removeFactors: (person: Person) =>
      act(
        person,
        {
          title: 'Remove second factors',
          description: (
            <>
              {named(person)} signs in with the password alone until new ones are set up. Do this only for
              somebody whom you know, and who has lost all of them. All sessions end.
            </>
          ),
          variant: 'danger',
          icon: ShieldOff,
          acceptButtonText: 'Yes, remove them!',
        },
        'Second factors removed successfully!',
        () => api.call(factors.removeFactors, { params: { id: person.id } }),
      ),
    disconnect: (person: Person) =>
      act(
        person,
        {
          title: 'Disconnect providers',
          description: (
            <>
              No account at a provider signs {named(person)} in any more, and all sessions end. Without a
              password that may be used or a passkey, their API tokens end too, and they need a new link from
              you.
            </>
          ),
          variant: 'danger',
          icon: Unlink,
          acceptButtonText: 'Yes, disconnect them!',
        },
        'Providers disconnected successfully!',
        () => api.call(endpoints.disconnectPerson, { params: { id: person.id } }),
      ),
    remove: (person: Person, isSelf: boolean) =>
      act(
        person,
        {
          title: 'Delete person',
          description: (
            <>
              This permanently deletes the account of {named(person)}. Nodes and services stay, and so does
              the name in the history.{isSelf && SELF}
            </>
          ),
          variant: 'danger',
          icon: Trash2,
          acceptButtonText: 'Yes, delete it!',
        },
        'Person deleted successfully!',
        () => api.call(endpoints.deletePerson, { params: { id: person.id } }),
      ),
  }
}

const named = ({ username }: Person) => <b dir="auto">{username}</b>
const SELF = ' This is you.'

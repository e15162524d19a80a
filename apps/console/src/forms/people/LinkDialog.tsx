import { people as endpoints } from '@postern/contract/endpoints/people'
import { type InvitedPerson, LinkForm, type Person } from '@postern/contract/people/people'
import { useQueryClient } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'
import { SendToField } from './SendToField.tsx'

interface Props {
  person: Person
  onClose: () => void
  /** @param email where it was to be sent; null: nowhere */
  onInvited: (invited: InvitedPerson, email: string | null) => void
}

/** A new link for a person, where it can be sent by e-mail. */
export function LinkDialog({ person: { id, username, state }, onClose, onInvited }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, shell } = useFormShell({
    schema: LinkForm,
    values: { email: '' },
    failure: 'The link was not made',
    async send(body) {
      onInvited(await api.call(endpoints.renewInvite, { params: { id }, body }), body.email)
      void reload(queries, { queryKey: [endpoints.listPeople.path] })
    },
  })
  useLeaveGuard(shell.dirty, confirmDiscard)
  return (
    <FormDialog
      title={state === 'invited' ? 'New Link' : 'New Password'}
      description={
        <>
          The next step shows the link for <b dir="auto">{username}</b>. It ends any before.
        </>
      }
      size="s"
      submitText="Make Link"
      onClose={onClose}
      {...shell}
    >
      <SendToField control={form.control} name="email" />
    </FormDialog>
  )
}

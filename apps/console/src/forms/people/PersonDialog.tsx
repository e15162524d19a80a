import { people as endpoints } from '@postern/contract/endpoints/people'
import {
  type InvitedPerson,
  InviteForm,
  type InviteFormInput,
  type Person,
} from '@postern/contract/people/people'
import { useQueryClient } from '@tanstack/react-query'
import { useWatch } from 'react-hook-form'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { ROLES } from '../../components/people/roles.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { SelectField } from '../fields/bound-fields.tsx'
import { TextField } from '../fields/TextField.tsx'
import { RecordDialog } from '../shell/RecordDialog.tsx'
import { useFormDialog } from '../shell/use-form-dialog.ts'
import { ReachFields } from './ReachFields.tsx'
import { SendToField } from './SendToField.tsx'
import { useMailChannel } from './use-mail-channel.ts'

const ROLE_OPTIONS = Object.entries(ROLES).map(([value, { text }]) => ({ value, text }))

interface Props {
  /** The person to change; without one somebody is invited. */
  person: Person | undefined
  onClose: () => void
  /** @param email where the link was to be sent; null: nowhere */
  onInvited: (invited: InvitedPerson, email: string | null) => void
}

type Saved = { person: Person } | { invited: InvitedPerson; email: string | null }

const valuesOf = (person: Person | undefined): InviteFormInput =>
  person
    ? { username: person.username, role: person.role, reach: person.reach }
    : { username: '', role: 'editor', reach: null, email: '' }

/** Name, role and limits of a person. */
export function PersonDialog({ person, onClose, onInvited }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const canSend = useMailChannel()
  const { form, record, dialog } = useFormDialog<InviteFormInput, InviteForm, Person, Saved>({
    schema: InviteForm,
    record: person,
    valuesOf,
    create: async (body) => ({
      invited: await api.call(endpoints.invitePerson, { body }),
      email: body.email,
    }),
    update: async ({ id }, { email: _, ...body }) => ({
      person: await api.call(endpoints.updatePerson, { params: { id }, body }),
    }),
    fetch: ({ id }) => api.call(endpoints.getPerson, { params: { id } }),
    onSaved: (saved) => {
      void reload(queries, { queryKey: [endpoints.listPeople.path] })
      if ('invited' in saved) return onInvited(saved.invited, saved.email)
      toast.success('Person updated successfully!', saved.person.username)
      onClose()
    },
  })
  const { control } = form
  const role = useWatch({ control, name: 'role' })
  return (
    <RecordDialog
      title={record ? 'Edit Person' : 'Invite'}
      description={
        record ? 'In force at once, also on open pages' : 'The next step shows the link by which they come in'
      }
      onClose={onClose}
      {...dialog}
    >
      <TextField
        control={control}
        name="username"
        label="Name"
        required
        autoComplete="off"
        autoCapitalize="none"
        hint="They sign in with it, and the history shows it."
      />
      <SelectField
        control={control}
        name="role"
        label="Role"
        options={ROLE_OPTIONS}
        hint={ROLES[role].may}
        onValueChange={(next) => {
          if (next === 'admin') form.setValue('reach', null, { shouldDirty: true })
        }}
      />
      {role !== 'admin' && <ReachFields form={form} />}
      {!record && canSend && <SendToField control={control} name="email" />}
    </RecordDialog>
  )
}

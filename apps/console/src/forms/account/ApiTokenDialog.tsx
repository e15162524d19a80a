import {
  API_TOKEN_DAYS,
  type ApiTokenForm,
  type ApiTokenFormInput,
  type CreatedApiToken,
} from '@postern/contract/api-tokens'
import { apiTokens as endpoints } from '@postern/contract/endpoints/api-tokens'
import type { PersonFormInput } from '@postern/contract/people/people'
import { type Account, ROLES as ALL_ROLES } from '@postern/contract/sign-in/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type UseFormReturn, useWatch } from 'react-hook-form'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { ROLES } from '../../components/people/roles.ts'
import { OneTimeToken } from '../../components/tokens/OneTimeToken.tsx'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { renderDay, today } from '../../util/days.ts'
import { serverUrls } from '../../util/urls.ts'
import { SelectField } from '../fields/bound-fields.tsx'
import { DateField } from '../fields/DateField.tsx'
import { TextField } from '../fields/TextField.tsx'
import { ReachFields } from '../people/ReachFields.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'
import { ApiTokenSchema } from './api-token-values.ts'

const DAY_MS = 86_400_000

interface Props {
  me: Account
  onClose: () => void
}

/** The form of a token for a program and, after saving, the dialog that shows its value only this once. */
export function ApiTokenDialog({ me, onClose }: Props) {
  const [created, setCreated] = useState<CreatedApiToken>()
  if (!created) return <ApiTokenFields me={me} onClose={onClose} onCreated={setCreated} />
  return (
    <OneTimeToken
      title="New API Token"
      description="Give it to your program now: only a hash of it is kept."
      label="API token"
      token={created}
      onClose={onClose}
    >
      Send it as <code>Authorization: Bearer …</code>:{' '}
      <a href={serverUrls.apiTokens()} target="_blank" rel="noreferrer">
        documentation
      </a>
      .
    </OneTimeToken>
  )
}

function ApiTokenFields({
  me,
  onClose,
  onCreated,
}: Props & { onCreated: (created: CreatedApiToken) => void }) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, shell } = useFormShell<ApiTokenFormInput, ApiTokenForm>({
    schema: ApiTokenSchema,
    values: {
      name: '',
      // The least that is useful: a person who needs more chooses it.
      role: 'viewer',
      reach: null,
      expireAt: renderDay(today(new Date(Date.now() + API_TOKEN_DAYS.usual * DAY_MS))),
    },
    failure: 'The token could not be created',
    async send(body) {
      onCreated(await api.call(endpoints.createApiToken, { body }))
      void reload(queries, { queryKey: [endpoints.listApiTokens.path] })
    },
  })
  useLeaveGuard(shell.dirty, confirmDiscard)
  const { control } = form
  const role = useWatch({ control, name: 'role' })
  return (
    <FormDialog
      title="API Token"
      description="A program acts with it in your name, and never with more rights than you have."
      onClose={onClose}
      {...shell}
    >
      <TextField control={control} name="name" label="Name" required placeholder="What it is for" />
      <SelectField
        control={control}
        name="role"
        label="Role"
        options={rolesWithin(me.role)}
        hint={ROLES[role].may}
        onValueChange={(next) => {
          if (next === 'admin') form.setValue('reach', null, { shouldDirty: true })
        }}
      />
      {role !== 'admin' && (
        <ReachFields
          // They only touch `reach`, which both forms have alike.
          form={form as unknown as UseFormReturn<PersonFormInput, unknown, ApiTokenForm>}
          label="Sees"
          allText={me.reach ? 'Everything that you may see' : 'The whole installation'}
        />
      )}
      <DateField
        control={control}
        name="expireAt"
        label="Expires"
        hint="Empty: in 90 days. A token is valid for a year at most."
      />
    </FormDialog>
  )
}

/** Those that may do no more than one's own; the contract has the mightiest first. */
function rolesWithin(own: Account['role']) {
  return ALL_ROLES.slice(ALL_ROLES.indexOf(own)).map((value) => ({ value, text: ROLES[value].text }))
}

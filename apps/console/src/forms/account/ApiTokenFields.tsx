import { API_TOKEN_DAYS, type ApiTokenForm, type ApiTokenFormInput } from '@postern/contract/api-tokens'
import type { PersonFormInput } from '@postern/contract/people/people'
import { type Account, ROLES as ALL_ROLES } from '@postern/contract/sign-in/auth'
import { type UseFormReturn, useWatch } from 'react-hook-form'
import { ROLES } from '../../components/people/roles.ts'
import { renderDay, today } from '../../util/days.ts'
import { SelectField } from '../fields/bound-fields.tsx'
import { DateField } from '../fields/DateField.tsx'
import { TextField } from '../fields/TextField.tsx'
import { ReachFields } from '../people/ReachFields.tsx'
import { ConfirmPasswordField } from './ConfirmPasswordField.tsx'

const DAY_MS = 86_400_000

/** What a new token has until the person chooses something else. */
export function newTokenValues(name: string): ApiTokenFormInput {
  return {
    name,
    // The least that is useful: a person who needs more chooses it.
    role: 'viewer',
    reach: null,
    expireAt: renderDay(today(new Date(Date.now() + API_TOKEN_DAYS.usual * DAY_MS))),
    password: null,
  }
}

interface Props {
  me: Account
  form: UseFormReturn<ApiTokenFormInput, unknown, ApiTokenForm>
}

/** What a token is called and may do, when it ends, and the password that it needs. */
export function ApiTokenFields({ me, form }: Props) {
  const { control } = form
  const role = useWatch({ control, name: 'role' })
  return (
    <>
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
      <ConfirmPasswordField control={control} name="password" />
    </>
  )
}

/** Those that may do no more than one's own; the contract has the mightiest first. */
function rolesWithin(own: Account['role']) {
  return ALL_ROLES.slice(ALL_ROLES.indexOf(own)).map((value) => ({ value, text: ROLES[value].text }))
}

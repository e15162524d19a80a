import { consoleSignIn as endpoints } from '@postern/contract/endpoints/console-sign-in'
import { people } from '@postern/contract/endpoints/people'
import type { ConsoleSignIn } from '@postern/contract/sign-in/console-providers'
import { useQueryClient } from '@tanstack/react-query'
import { useWatch } from 'react-hook-form'
import * as z from 'zod/mini'
import { useApi } from '../../api/context.ts'
import { keyOf, useAnswer } from '../../api/queries.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { SelectField } from '../fields/bound-fields.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'

/** A select has texts only: the id of a person, or nothing for everybody. */
const Schema = z.object({ person: z.string() })

interface Props {
  passwordOnlyFor: ConsoleSignIn['passwordOnlyFor']
  onClose: () => void
}

/** Who may sign in by password. */
export function PasswordRuleDialog({ passwordOnlyFor, onClose }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, shell } = useFormShell({
    schema: Schema,
    values: { person: passwordOnlyFor ? String(passwordOnlyFor.id) : '' },
    failure: 'The rule was not changed',
    async send({ person }) {
      const body = { person: person === '' ? null : Number(person) }
      const saved = await api.call(endpoints.setPasswordRule, { body })
      queries.setQueryData(keyOf(endpoints.getConsoleSignIn, {}), saved)
      toast.success('Password sign-in updated successfully!')
      onClose()
    },
  })
  useLeaveGuard(shell.dirty, confirmDiscard)
  const { control } = form
  const chosen = useWatch({ control, name: 'person' })
  return (
    <FormDialog
      title="Password Sign-In"
      description="Who may use a password, besides passkeys and providers"
      onClose={onClose}
      {...shell}
    >
      <SelectField
        control={control}
        name="person"
        label="May Sign In by Password"
        options={useOptions(passwordOnlyFor)}
        hint="One administrator keeps a password for the day on which the provider does not work: the break-glass account."
      />
      {chosen !== '' && (
        <Banner kind="warn">
          <p>
            Nobody else signs in by password any more. Open sessions stay. If nobody gets in at all, run{' '}
            <code>npm run password</code> on the server.
          </p>
        </Banner>
      )}
    </FormDialog>
  )
}

function useOptions(present: Props['passwordOnlyFor']) {
  const { data = [] } = useAnswer(people.listPeople, {})
  const administrators = data.filter(({ role, state }) => role === 'admin' && state === 'active')
  const isListed = administrators.some(({ id }) => id === present?.id)
  return [
    { value: '', text: 'Everybody' },
    ...[...(present && !isListed ? [present] : []), ...administrators].map(({ id, username }) => ({
      value: String(id),
      text: `Only ${username}`,
    })),
  ]
}

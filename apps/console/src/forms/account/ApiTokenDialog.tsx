import type { ApiTokenForm, ApiTokenFormInput, CreatedApiToken } from '@postern/contract/api-tokens'
import { apiTokens as endpoints } from '@postern/contract/endpoints/api-tokens'
import type { Account } from '@postern/contract/sign-in/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { OneTimeToken } from '../../components/tokens/OneTimeToken.tsx'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { serverUrls } from '../../util/urls.ts'
import { useFormShell } from '../shell/use-form-shell.ts'
import { ApiTokenFields, newTokenValues } from './ApiTokenFields.tsx'
import { ApiTokenSchema } from './api-token-values.ts'

interface Props {
  me: Account
  onClose: () => void
}

/** The form of a token for a program and, after saving, the dialog that shows its value only this once. */
export function ApiTokenDialog({ me, onClose }: Props) {
  const [created, setCreated] = useState<CreatedApiToken>()
  if (!created) return <NewToken me={me} onClose={onClose} onCreated={setCreated} />
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

function NewToken({ me, onClose, onCreated }: Props & { onCreated: (created: CreatedApiToken) => void }) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, shell } = useFormShell<ApiTokenFormInput, ApiTokenForm>({
    schema: ApiTokenSchema,
    values: newTokenValues(''),
    failure: 'The token could not be created',
    async send(body) {
      onCreated(await api.call(endpoints.createApiToken, { body }))
      void reload(queries, { queryKey: [endpoints.listApiTokens.path] })
    },
  })
  useLeaveGuard(shell.dirty, confirmDiscard)
  return (
    <FormDialog
      title="API Token"
      description="A program acts with it in your name, and never with more rights than you have."
      onClose={onClose}
      {...shell}
    >
      <ApiTokenFields me={me} form={form} />
    </FormDialog>
  )
}

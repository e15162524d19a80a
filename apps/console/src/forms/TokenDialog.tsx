import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Node } from '@postern/contract/nodes'
import type { CreatedPat } from '@postern/contract/pats'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../api/context.ts'
import { TokenInfoDialog } from '../components/tokens/TokenInfoDialog.tsx'
import { refreshTokens } from '../components/tokens/use-token-actions.tsx'
import { useLeaveGuard } from '../components/use-leave-guard.ts'
import type { DraftValues } from '../stores/draft.ts'
import { confirmDiscard } from '../ui/overlay/Dialog.tsx'
import { FormDialog } from '../ui/overlay/FormDialog.tsx'
import { DateField } from './fields/DateField.tsx'
import { TextField } from './fields/TextField.tsx'
import { useFormShell } from './shell/use-form-shell.ts'
import { NEW_TOKEN, TokenFormSchema } from './token-values.ts'

interface Props {
  node: Node
  draft?: DraftValues
  onClose: () => void
}

/** The form of a new access token and, after saving, the dialog that shows its value only this once. */
export function TokenDialog({ node, draft, onClose }: Props) {
  const [created, setCreated] = useState<CreatedPat>()
  if (created) return <TokenInfoDialog token={created} onClose={onClose} />
  return <TokenForm node={node} {...(draft && { draft })} onClose={onClose} onCreated={setCreated} />
}

function TokenForm({
  node,
  draft,
  onClose,
  onCreated,
}: Props & { onCreated: (created: CreatedPat) => void }) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, shell } = useFormShell({
    schema: TokenFormSchema,
    values: NEW_TOKEN,
    checks: 'onChange',
    draft: { of: { form: 'token', node }, values: draft },
    failure: 'The token could not be created',
    async send(body) {
      onCreated(await api.call(endpoints.createToken, { params: { nodeId: node.id }, body }))
      void refreshTokens(queries)
    },
  })
  useLeaveGuard(shell.dirty, confirmDiscard)
  const { control } = form
  return (
    <FormDialog
      title="Access Token Configuration"
      description={
        <>
          Let another machine connect as <b>{node.name}</b>, or replace a token that was lost.
        </>
      }
      onClose={onClose}
      {...shell}
    >
      <TextField
        control={control}
        name="name"
        label="Name"
        required
        placeholder="Enter a friendly name for this token"
      />
      <DateField
        control={control}
        name="expireAt"
        label="Expire At (Optional)"
        hint="Define when the token should be revoked automatically"
      />
    </FormDialog>
  )
}

import { consoleSignIn as endpoints } from '@postern/contract/endpoints/console-sign-in'
import {
  type ConsoleProvider,
  ConsoleProviderForm,
  type RoleRule,
} from '@postern/contract/sign-in/console-providers'
import { useQueryClient } from '@tanstack/react-query'
import { ArrowUpRight } from 'lucide-react'
import { useWatch } from 'react-hook-form'
import { ApiError } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { TrialOutcome } from '../../components/trial/TrialOutcome.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyField } from '../../ui/CopyButton.tsx'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { FormSection } from '../../ui/overlay/FormDialog.tsx'
import { CheckboxField } from '../fields/bound-fields.tsx'
import { SecretField } from '../fields/SecretField.tsx'
import { TextField } from '../fields/TextField.tsx'
import { SECTIONS } from '../settings/sections.ts'
import { RecordDialog } from '../shell/RecordDialog.tsx'
import { useFormDialog } from '../shell/use-form-dialog.ts'
import { providerValues, withRule } from './provider-values.ts'
import { RoleRules } from './RoleRules.tsx'
import { TriedAccount } from './TriedAccount.tsx'
import { useProviderTrial } from './use-provider-trial.ts'
import { useRulesPreview } from './use-rules-preview.ts'
import './ProviderDialog.css'

interface Props {
  /** The provider to edit; without one a new one is made. */
  provider: ConsoleProvider | undefined
  redirectUrl: string
  onClose: () => void
}

const issuerField = SECTIONS.provider.fields.find(({ name }) => name === 'POSTERN_OIDC_ISSUER')

/** A provider with which people sign in to the console; it can be tried before it is saved. */
export function ProviderDialog({ provider, redirectUrl, onClose }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, record, dialog } = useFormDialog({
    schema: ConsoleProviderForm,
    record: provider,
    valuesOf: providerValues,
    create: (body) => api.call(endpoints.createConsoleProvider, { body }),
    update: ({ id }, body) => api.call(endpoints.updateConsoleProvider, { params: { id }, body }),
    async fetch({ id }) {
      const { providers } = await api.call(endpoints.getConsoleSignIn, {})
      const found = providers.find((each) => each.id === id)
      if (!found) throw new ApiError('Somebody has deleted this provider.', { status: 404 })
      return found
    },
    onSaved: ({ name }) => {
      void reload(queries, { queryKey: [endpoints.getConsoleSignIn.path] })
      toast.success(provider ? 'Provider updated successfully!' : 'Provider added successfully!', name)
      onClose()
    },
  })
  const { control, setValue } = form
  const name = useWatch({ control, name: 'name' })
  const rules: readonly RoleRule[] = useWatch({ control, name: 'rules' }) ?? []
  const trial = useProviderTrial(form, record?.id)
  const isTried = trial.data?.state === 'done'
  const decision = useRulesPreview(rules, isTried ? trial.at : null)
  const addRule = (claim: string, value: string) =>
    setValue('rules', [...withRule(rules, claim, value)], { shouldDirty: true })
  return (
    <RecordDialog
      title={record ? `Sign-In Provider: ${record.name}` : 'Sign-In Provider'}
      description="With which people sign in to the console"
      size="l"
      onClose={onClose}
      footNote={
        <Button
          className="provider-try"
          icon={ArrowUpRight}
          busy={trial.begin.isPending}
          onClick={() => void trial.run()}
        >
          Try
        </Button>
      }
      {...dialog}
    >
      <FormSection legend="Provider" first>
        <div className="fields">
          <TextField
            control={control}
            name="name"
            label="Name"
            required
            placeholder="Google"
            hint={`Its button on the sign-in page: Continue with ${name?.trim() || 'Google'}`}
          />
          <TextField
            control={control}
            name="issuer"
            label="Provider"
            required
            mono
            autoCapitalize="none"
            placeholder="google"
            hint={issuerField?.hint}
          />
          <div className="field">
            <span className="label">Redirect Address</span>
            <CopyField label="Redirect Address" value={redirectUrl} />
            <p className="hint">Register Postern at the provider with exactly this address first.</p>
          </div>
          <TextField
            control={control}
            name="clientId"
            label="Client ID"
            required
            mono
            autoCapitalize="none"
            hint="Postern's ID at that provider."
          />
          <SecretField
            control={control}
            name="clientSecret"
            label="Client Secret"
            required
            hint="Stored encrypted, and never shown again."
          />
        </div>
      </FormSection>
      <FormSection legend="Accounts">
        <div className="fields">
          <CheckboxField
            control={control}
            name="makesAccounts"
            label="Make Accounts on First Sign-In"
            text="For people to whom a rule gives a role. Otherwise only people who were invited connect it with their accounts."
          />
          <RoleRules control={control} />
        </div>
      </FormSection>
      <FormSection legend="Trial">
        <div className="fields">
          {!trial.data && !trial.begin.isError && (
            <p className="hint">
              <b>Try</b> signs you in at the provider in a new tab, and shows what it says about your account
              and which role the rules would give. Nothing is saved.
            </p>
          )}
          <TrialOutcome trial={trial}>
            {(account) => <TriedAccount account={account} decision={decision} onRule={addRule} />}
          </TrialOutcome>
        </div>
      </FormSection>
    </RecordDialog>
  )
}

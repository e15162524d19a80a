import { type Domain, type DomainFormInput, DomainForm as DomainSchema } from '@postern/contract/domains'
import { endpoints } from '@postern/contract/endpoints'
import { MESSAGES } from '@postern/contract/messages'
import { useQueryClient } from '@tanstack/react-query'
import { useWatch } from 'react-hook-form'
import { useApi } from '../api/context.ts'
import { Field } from '../ui/Field.tsx'
import { FormDialog } from '../ui/FormDialog.tsx'
import { TextInput } from '../ui/TextInput.tsx'
import { toast } from '../ui/Toasts.tsx'
import { SkipValidationField, useSkipOffered } from './domain-fields.tsx'
import { TextField } from './TextField.tsx'
import { useFormDialog } from './use-form-dialog.ts'

interface Props {
  /** The domain to edit; without one a new domain is made. */
  domain?: Domain | undefined
  /** Gets the domain when it was saved. */
  onClose: (saved?: Domain) => void
}

export function DomainDialog({ domain, onClose }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, dialog } = useFormDialog({
    schema: DomainSchema,
    record: domain,
    valuesOf: (record) => (record ? domainValues(record) : NEW_DOMAIN),
    create: (body) => api.call(endpoints.createDomain, { body }),
    update: ({ id }, body) => api.call(endpoints.updateDomain, { params: { id }, body }),
    fetch: ({ id }) => api.call(endpoints.getDomain, { params: { id } }),
    onSaved: (saved) => {
      void queries.invalidateQueries({ queryKey: [endpoints.listDomains.path] })
      toast.success(domain ? 'Domain updated successfully!' : 'Domain created successfully!')
      onClose(saved)
    },
  })
  const { control } = form
  const skips = useWatch({ control, name: 'skipValidation' })
  const offersSkip = useSkipOffered(control, () => true)
  return (
    <FormDialog
      title="Domain & SSL Settings"
      description="Set up a domain pointing to Postern"
      onClose={() => onClose()}
      {...dialog}
    >
      <TextField
        control={control}
        name="domain"
        label="Domain"
        required
        mono
        disabled={domain !== undefined}
        placeholder="app.example.com"
        hint={domain ? "A domain can't be renamed." : 'Its DNS record must point to this server.'}
      />
      {offersSkip && <SkipValidationField control={control} onTicked={() => form.clearErrors('domain')} />}
      <Field
        label="SSL Certificate Type"
        hint={skips ? MESSAGES.selfSignedOnly : "Signed by this installation's own certificate authority."}
      >
        {(ids) => <TextInput {...ids} value="Self Signed" readOnly />}
      </Field>
    </FormDialog>
  )
}

const NEW_DOMAIN = { domain: '', ssl: 'self-signed', skipValidation: false } satisfies DomainFormInput

/** What the domain form holds while it is edited. A type of null reads as Self Signed. */
function domainValues({ domain, skipValidation }: Domain) {
  return { domain, ssl: 'self-signed', skipValidation } satisfies DomainFormInput
}

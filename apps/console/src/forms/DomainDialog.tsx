import { type Domain, type DomainFormInput, DomainForm as DomainSchema } from '@postern/contract/domains'
import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { MESSAGES } from '@postern/contract/messages'
import { ServiceType } from '@postern/contract/services/services'
import { useQueryClient } from '@tanstack/react-query'
import { useWatch } from 'react-hook-form'
import { useApi } from '../api/context.ts'
import { reload } from '../api/queries.ts'
import type { DraftValues } from '../stores/draft.ts'
import { toast } from '../ui/feedback/Toasts.tsx'
import { confirm } from '../ui/overlay/confirm.ts'
import { serverUrls } from '../util/urls.ts'
import { SelectField } from './fields/bound-fields.tsx'
import { SkipValidationField, useSkipOffered } from './fields/domain-fields.tsx'
import { EdgesField } from './fields/edge-fields.tsx'
import { DomainSignInFields } from './fields/sign-in-fields.tsx'
import { TextField } from './fields/TextField.tsx'
import { useTakeBack } from './fields/take-back.tsx'
import { RecordDialog } from './shell/RecordDialog.tsx'
import { useFormDialog } from './shell/use-form-dialog.ts'

interface Props {
  /** The domain to edit; without one a new domain is made. */
  domain?: Domain | undefined
  draft?: DraftValues
  /** Called with the domain once it is saved. */
  onClose: (saved?: Domain) => void
}

export function DomainDialog({ domain, draft, onClose }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const confirmRenaming = useConfirmRenaming()
  // Its sign-in, or its name, may be what the console is reached by.
  const takeBack = useTakeBack(domain?.domain === location.hostname)
  const { form, record, dialog } = useFormDialog({
    schema: DomainSchema,
    record: domain,
    draft: { of: { form: 'domain', domain }, values: draft },
    valuesOf: (record) => (record ? domainValues(record) : NEW_DOMAIN),
    create: (body) => api.call(endpoints.createDomain, { body }),
    update: ({ id }, body) => api.call(endpoints.updateDomain, { params: { id }, body, ...takeBack.input }),
    mayUpdate: async (record, values) =>
      record.domain === values.domain || (await confirmRenaming(record, values.domain)),
    fetch: ({ id }) => api.call(endpoints.getDomain, { params: { id } }),
    onSaved: (saved) => {
      void reload(queries, { queryKey: [endpoints.listDomains.path] })
      toast.success(domain ? 'Domain updated successfully!' : 'Domain created successfully!')
      onClose(saved)
    },
  })
  const { control } = form
  const [skips, ssl] = useWatch({ control, name: ['skipValidation', 'ssl'] })
  const offersSkip = useSkipOffered(control, () => true)
  const skip = () => {
    form.clearErrors('domain')
    form.setValue('ssl', 'self-signed', { shouldDirty: true, shouldValidate: true })
  }
  return (
    <RecordDialog
      title={record ? `Domain & SSL Settings: ${record.domain}` : 'Domain & SSL Settings'}
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
        placeholder="app.example.com"
        hint="Its DNS record must point to this server."
      />
      {offersSkip && <SkipValidationField control={control} onTicked={skip} />}
      <SelectField
        control={control}
        name="ssl"
        label="SSL Certificate Type"
        options={CERTIFICATES}
        disabled={skips === true}
        hint={skips ? MESSAGES.selfSignedOnly : ssl === 'certbot' ? LETS_ENCRYPT : <SelfSigned />}
      />
      <DomainSignInFields form={form} wasOn={record?.authentication ?? false} />
      <EdgesField control={control} />
      {takeBack.field}
    </RecordDialog>
  )
}

/**
 * Shows what moves along and what ends.
 * @throws ApiError when the services cannot be counted
 */
function useConfirmRenaming() {
  const api = useApi()
  return async ({ domain: from, authentication }: Domain, to: string): Promise<boolean> => {
    const count = async (type: ServiceType) => {
      const page = await api.call(endpoints.listServices, {
        params: { type },
        query: { domain: from, limit: 1 },
      })
      return Array.isArray(page) ? page.length : page.total
    }
    const counts = await Promise.all(ServiceType.options.map(count))
    const services = counts.reduce((sum, each) => sum + each, 0)
    return await confirm({
      title: 'Rename domain',
      description: (
        <>
          <b className="mono">{from}</b> becomes <b className="mono">{to}</b>. {moving(services)} The old name
          stops answering at once{authentication && ', and visitors have to sign in again'}.
        </>
      ),
      variant: 'info',
      acceptButtonText: 'Yes, rename it!',
    })
  }
}

function moving(services: number): string {
  const along = 'its certificate settings, sign-in and record'
  if (services === 0) return `No service uses it; ${along} move with it.`
  return `${services === 1 ? '1 service moves' : `${services} services move`} with it, and so do ${along}.`
}

const CERTIFICATES = [
  { value: 'self-signed', text: 'Self Signed' },
  { value: 'certbot', text: "Let's Encrypt" },
]

const LETS_ENCRYPT = 'Issued and renewed automatically. Port 80 of this server must be open to the internet.'

function SelfSigned() {
  return (
    <>
      Signed by this installation's own authority. Browsers warn until they{' '}
      <a href={serverUrls.trustRoot()} target="_blank" rel="noreferrer">
        trust it
      </a>
      .
    </>
  )
}

const NEW_DOMAIN = {
  domain: '',
  ssl: 'self-signed',
  skipValidation: false,
  authentication: false,
  allowedEmails: [],
  edges: null,
} satisfies DomainFormInput

/** The domain form's values while it is edited. A type of null reads as Self Signed. */
function domainValues({ domain, ssl, skipValidation, authentication, allowedEmails, edges }: Domain) {
  return {
    domain,
    ssl: ssl ?? 'self-signed',
    skipValidation,
    authentication,
    allowedEmails: [...allowedEmails],
    edges: edges && [...edges],
  } satisfies DomainFormInput
}

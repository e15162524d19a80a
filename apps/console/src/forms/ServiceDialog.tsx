import { endpoints } from '@postern/contract/endpoints'
import type { Node } from '@postern/contract/nodes'
import type { HttpService } from '@postern/contract/services'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../api/context.ts'
import { ServiceInfoDialog } from '../components/service-card/ServiceInfoDialog.tsx'
import { refreshServices, replaceService } from '../components/service-card/service-actions.tsx'
import { FormDialog, FormSection } from '../ui/FormDialog.tsx'
import { NumberField, SelectField, TextField } from './bound-fields.tsx'
import { canNameHost, httpServiceSchema, httpServiceValues, NEW_HTTP_SERVICE } from './http-service-values.ts'
import { NodeNameField } from './NodeNameField.tsx'
import { PublicDomainField } from './PublicDomainField.tsx'
import { RoutePreview } from './RoutePreview.tsx'
import { SkipValidationField, useSkipOffered } from './SkipValidationField.tsx'
import { TextListField } from './TextListField.tsx'
import { useFormDialog } from './use-form-dialog.ts'

interface Props {
  node: Node
  /** The service to edit; without one a new service is made. */
  service?: HttpService | undefined
  /** Gets the service when it was saved. */
  onClose: (saved?: HttpService) => void
}

/** The HTTP service form, and after saving the dialog that says where the service is reached. */
export function HttpServiceDialog({ node, service, onClose }: Props) {
  const [saved, setSaved] = useState<HttpService>()
  if (saved) return <ServiceInfoDialog service={saved} onClose={() => onClose(saved)} />
  return <HttpServiceForm node={node} service={service} onClose={() => onClose()} onSaved={setSaved} />
}

interface FormProps {
  node: Node
  service: HttpService | undefined
  onClose: () => void
  onSaved: (service: HttpService) => void
}

const PROTOCOLS = [
  { value: 'http', text: 'http://' },
  { value: 'https', text: 'https://' },
]
const LOCKED_HINT = 'This is the console itself: only its domain and its IP lists can be changed.'

function HttpServiceForm({ node, service, onClose, onSaved }: FormProps) {
  const { form, dialog } = useHttpServiceForm({ node, service, onSaved })
  const { control } = form
  // Only what the server found: a wrong spelling cannot be skipped.
  const offersSkip = useSkipOffered(control, (error) => error.type === 'server')
  const locked = service?.system ?? false
  const hostAllowed = canNameHost(node)
  return (
    <FormDialog
      title="Expose HTTP Service on Node"
      description="Publish a web service of this node under a domain or a path."
      size="l"
      footNote={<RoutePreview control={control} node={node} />}
      onClose={onClose}
      {...dialog}
    >
      <FormSection legend="Service" first>
        <div className="g2">
          <NodeNameField node={node} />
          <TextField
            control={control}
            name="name"
            label="Service Name"
            required
            disabled={locked}
            hint={locked && LOCKED_HINT}
          />
        </div>
      </FormSection>
      <FormSection legend="Public side">
        <div className="fields">
          <div className="g2 a">
            <PublicDomainField control={control} isConsole={locked} />
            <TextField
              control={control}
              name="pathLocation"
              label="Public HTTP Path"
              mono
              placeholder="/"
              disabled={locked}
            />
          </div>
          {offersSkip && (
            <SkipValidationField control={control} onTicked={() => form.clearErrors('domain')} />
          )}
        </div>
      </FormSection>
      <FormSection legend="Private side">
        <div className="g3">
          <SelectField
            control={control}
            name="backendProto"
            label="Backend Protocol"
            options={PROTOCOLS}
            mono
            disabled={locked}
          />
          <TextField
            control={control}
            name="backendHost"
            label="Hostname/IP"
            mono
            required={hostAllowed}
            disabled={locked || !hostAllowed}
            placeholder={hostAllowed ? '' : 'localhost'}
            hint={
              !hostAllowed &&
              'This node can only expose its own services. Make it a gateway to reach other hosts.'
            }
          />
          <NumberField
            control={control}
            name="backendPort"
            label="Backend Port"
            placeholder={String(NEW_HTTP_SERVICE.backendPort)}
            disabled={locked}
          />
        </div>
      </FormSection>
      <FormSection legend="Access">
        <div className="g2">
          <TextListField
            control={control}
            name="allowedIps"
            label="Allowed IPs"
            itemLabel="Allowed IP"
            addText="Add IP"
            placeholder="203.0.113.0/24"
          />
          <TextListField
            control={control}
            name="blockedIps"
            label="Blocked IPs"
            itemLabel="Blocked IP"
            addText="Add IP"
            placeholder="203.0.113.66"
            hint="Blocked IPs take precedence. Leave both empty to allow everyone."
          />
        </div>
      </FormSection>
    </FormDialog>
  )
}

function useHttpServiceForm({ node, service, onSaved }: Omit<FormProps, 'onClose'>) {
  const api = useApi()
  const queries = useQueryClient()
  return useFormDialog({
    schema: httpServiceSchema(node),
    record: service,
    valuesOf: (record) => (record ? httpServiceValues(record) : NEW_HTTP_SERVICE),
    create: (body) => api.call(endpoints.createHttpService, { params: { nodeId: node.id }, body }),
    update: ({ nodeId, id }, body) => api.call(endpoints.updateHttpService, { params: { nodeId, id }, body }),
    fetch: ({ nodeId, type, id }) => api.call(endpoints.getService, { params: { nodeId, type, id } }),
    onSaved: (saved) => {
      replaceService(queries, saved)
      void refreshServices(queries)
      // A new name became a domain.
      void queries.invalidateQueries({ queryKey: [endpoints.listDomains.path] })
      onSaved(saved)
    },
  })
}

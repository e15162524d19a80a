import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { LIMITS } from '@postern/contract/limits'
import { MESSAGES } from '@postern/contract/messages'
import { type TcpService, TcpServiceForm as TcpServiceSchema } from '@postern/contract/services/services'
import { useWatch } from 'react-hook-form'
import { useApi } from '../../api/context.ts'
import { useConfig } from '../../api/queries.ts'
import { CheckboxField, NumberField, SelectField } from '../fields/bound-fields.tsx'
import { DomainAnswerField } from '../fields/domain-fields.tsx'
import { ServiceForm, type ServiceFormProps, useServiceForm } from './ServiceForm.tsx'
import { NEW_TCP_SERVICE, previewTcpRoute, schemaForNode, serviceValues } from './service-values.ts'

const ASKED_ABOUT = [MESSAGES.sharedCookies]

const PROTOCOLS = [
  { value: 'tcp', text: 'tcp://' },
  { value: 'udp', text: 'udp://' },
]

export function TcpServiceForm({ node, service, draft, onClose, onSaved }: ServiceFormProps<TcpService>) {
  const api = useApi()
  const config = useConfig().data
  const { form, record, dialog } = useServiceForm({
    schema: schemaForNode(TcpServiceSchema, node),
    record: service,
    draft: { of: { form: 'service', node, type: 'tcp', service }, values: draft },
    valuesOf: (record) => (record ? serviceValues(NEW_TCP_SERVICE, record) : NEW_TCP_SERVICE),
    create: (body) => api.call(endpoints.createTcpService, { params: { nodeId: node.id }, body }),
    update: ({ nodeId, id }, body) => api.call(endpoints.updateTcpService, { params: { nodeId, id }, body }),
    onSaved,
  })
  const { control } = form
  const values = useWatch({ control })
  const followProtocol = (proto: string) => {
    // Each protocol has ports of its own.
    form.clearErrors('port')
    if (proto === 'udp') form.setValue('ssl', false, { shouldDirty: true, shouldValidate: true })
  }
  return (
    <ServiceForm
      type="tcp"
      node={node}
      service={record}
      form={form}
      dialog={dialog}
      locked={false}
      defaultPort={LIMITS.defaultTcpPort}
      route={previewTcpRoute(values, { node, publicUrl: config?.publicUrl })}
      onClose={onClose}
      domainHint="Choose one, type a new name, or leave it empty to use this server's address."
      publicField={
        <NumberField
          control={control}
          name="port"
          label="Public Port (Optional)"
          placeholder="Assigned Automatically"
          hint={config && `A free port from ${config.TCP_SERVICES_PORT_RANGE.replace('-', ' to ')}.`}
        />
      }
      publicOption={
        <>
          <DomainAnswerField
            form={form}
            name="confirmSharedCookies"
            asked={ASKED_ABOUT}
            label="Trust With Sign-In Cookies"
            text="Its program may see the cookies of people who sign in at this address."
          />
          <CheckboxField
            control={control}
            name="ssl"
            label="Enable SSL Termination"
            text={sslText(values)}
            disabled={values.proto === 'udp'}
          />
        </>
      }
      protocolField={
        <SelectField
          control={control}
          name="proto"
          label="Protocol"
          options={PROTOCOLS}
          mono
          onValueChange={followProtocol}
        />
      }
    />
  )
}

function sslText({ proto, ssl, domain }: { proto?: unknown; ssl?: unknown; domain?: unknown }): string {
  if (proto === 'udp') return 'Not available over UDP, which has no TLS here.'
  const what =
    'Client-to-proxy TLS only; backend traffic stays unencrypted. Not for PostgreSQL, STARTTLS and others that switch to TLS later.'
  return ssl && !domain ? `${what} Without a domain it uses this installation's own certificate.` : what
}

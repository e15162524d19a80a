import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { LIMITS } from '@postern/contract/limits'
import { MESSAGES } from '@postern/contract/messages'
import type { HttpService } from '@postern/contract/services/services'
import { normaliseServicePath } from '@postern/net/service-path'
import { useWatch } from 'react-hook-form'
import { useApi } from '../../api/context.ts'
import { useConfig } from '../../api/queries.ts'
import { isConsole } from '../../api/rules.ts'
import { CheckboxField, SelectField } from '../fields/bound-fields.tsx'
import { DomainAnswerField, SandboxHint } from '../fields/domain-fields.tsx'
import { ServiceSignInFields } from '../fields/sign-in-fields.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useTakeBack } from '../fields/take-back.tsx'
import { ServiceForm, type ServiceFormProps, useServiceForm } from './ServiceForm.tsx'
import {
  findPathError,
  NEW_HTTP_SERVICE,
  previewHttpRoute,
  schemaForHttp,
  serviceValues,
} from './service-values.ts'

const ASKED_ABOUT: readonly unknown[] = [MESSAGES.namedServices, MESSAGES.namedConsole, MESSAGES.leftServices]

const PROTOCOLS = [
  { value: 'http', text: 'http://' },
  { value: 'https', text: 'https://' },
]

export function HttpServiceForm({ node, service, draft, onClose, onSaved }: ServiceFormProps<HttpService>) {
  const api = useApi()
  const config = useConfig().data
  const locked = service !== undefined && isConsole(service)
  const takeBack = useTakeBack(locked)
  const { form, record, dialog } = useServiceForm({
    schema: schemaForHttp(node, locked),
    record: service,
    draft: { of: { form: 'service', node, type: 'http', service }, values: draft },
    valuesOf: (record) => (record ? serviceValues(NEW_HTTP_SERVICE, record) : NEW_HTTP_SERVICE),
    create: (body) => api.call(endpoints.createHttpService, { params: { nodeId: node.id }, body }),
    update: ({ nodeId, id }, body) =>
      api.call(endpoints.updateHttpService, { params: { nodeId, id }, body, ...takeBack.input }),
    onSaved,
  })
  const { control } = form
  const values = useWatch({ control })
  const path = normaliseServicePath(values.pathLocation ?? '') || '/'
  return (
    <ServiceForm
      type="http"
      node={node}
      service={record}
      form={form}
      dialog={dialog}
      locked={locked}
      defaultPort={LIMITS.defaultHttpPort}
      route={previewHttpRoute(values, { node, publicUrl: config?.publicUrl, isConsole: locked })}
      onClose={onClose}
      onPath={(path) =>
        !locked && form.setValue('pathLocation', path, { shouldDirty: true, shouldValidate: true })
      }
      domainHint={<SandboxHint domain={values.domain?.trim().toLowerCase() ?? ''} isConsole={locked} />}
      publicField={
        <TextField
          control={control}
          name="pathLocation"
          label="Public HTTP Path"
          mono
          placeholder="/"
          hint={!locked && findPathError(values)}
          disabled={locked}
        />
      }
      publicOption={
        <>
          <DomainAnswerField
            form={form}
            name="confirmUsedName"
            asked={ASKED_ABOUT}
            label="Use This Name Anyway"
            text="You trust every program that was, or is now, published at this name."
          />
          <CheckboxField
            control={control}
            name="stripPath"
            label="Strip Path Prefix"
            text={path === '/' ? 'Needs a path, like /wiki.' : `The backend gets the path without ${path}.`}
            disabled={locked || path === '/'}
          />
        </>
      }
      protocolField={
        <SelectField
          control={control}
          name="backendProto"
          label="Backend Protocol"
          options={PROTOCOLS}
          mono
          disabled={locked}
        />
      }
      signIn={
        <>
          <ServiceSignInFields form={form} isConsole={locked} />
          {takeBack.field}
        </>
      }
    />
  )
}

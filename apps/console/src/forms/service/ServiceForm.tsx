import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { MESSAGES } from '@postern/contract/messages'
import type { Node } from '@postern/contract/nodes'
import { type Service, type ServiceType, typeName } from '@postern/contract/services/services'
import { useQueryClient } from '@tanstack/react-query'
import { ArrowRight, Info } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Control, UseFormReturn } from 'react-hook-form'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { canNameHost, hasTunnel } from '../../api/rules.ts'
import { NodeDot } from '../../components/NodeDot.tsx'
import { refreshServices, replaceService } from '../../components/service-card/service-lists.ts'
import { fixedText, PURPOSES } from '../../components/service-card/service-text.ts'
import type { DraftValues } from '../../stores/draft.ts'
import { Field } from '../../ui/input/Field.tsx'
import { TextInput } from '../../ui/input/TextInput.tsx'
import { FormSection } from '../../ui/overlay/FormDialog.tsx'
import { Tooltip } from '../../ui/overlay/Tooltip.tsx'
import { NumberField, TextListField } from '../fields/bound-fields.tsx'
import { PublicDomainField, SkipValidationField, useSkipOffered } from '../fields/domain-fields.tsx'
import { EndsField } from '../fields/EndsField.tsx'
import { TextField } from '../fields/TextField.tsx'
import { RecordDialog, type RecordDialogProps } from '../shell/RecordDialog.tsx'
import { type FormDeclaration, useFormDialog } from '../shell/use-form-dialog.ts'
import { LocalNote } from './LocalNote.tsx'
import { plainHint, type Route, type ServiceValues } from './service-values.ts'
import './ServiceForm.css'

/** The props of each service type's form. */
export interface ServiceFormProps<S extends Service> {
  node: Node
  /** The service to edit; without one a new service is made. */
  service: S | undefined
  draft: DraftValues | undefined
  onClose: () => void
  onSaved: (service: S) => void
}

type Declaration<S extends Service, In extends ServiceValues, Out> = Omit<
  FormDeclaration<In, Out, S, S>,
  'fetch'
>

/** The form of a service of any type; once it is saved, every list shows it. */
export function useServiceForm<S extends Service, In extends ServiceValues, Out>(
  declaration: Declaration<S, In, Out>,
) {
  const api = useApi()
  const queries = useQueryClient()
  return useFormDialog<In, Out, S, S>({
    ...declaration,
    async fetch({ nodeId, type, id }) {
      // A service keeps its type.
      return (await api.call(endpoints.getService, { params: { nodeId, type, id } })) as S
    },
    onSaved(saved) {
      replaceService(queries, saved)
      void refreshServices(queries)
      // A new name became a domain.
      void reload(queries, { queryKey: [endpoints.listDomains.path] })
      declaration.onSaved(saved)
    },
  })
}

interface Props<In extends ServiceValues, Out> {
  type: ServiceType
  node: Node
  /** The one that is edited. */
  service: Service | undefined
  form: UseFormReturn<In, unknown, Out>
  dialog: Pick<RecordDialogProps, 'loading' | 'submitError' | 'dirty' | 'onSubmit' | 'conflicts'>
  /** True for the console itself: its path and backend are fixed. */
  locked: boolean
  domainHint: ReactNode
  /** Called with the path of an address that was pasted as the domain. */
  onPath?: ((path: string) => void) | undefined
  /** Beside the domain. */
  publicField: ReactNode
  /** Below both. */
  publicOption?: ReactNode
  /** Before the backend's host. */
  protocolField: ReactNode
  /** At the end. */
  signIn?: ReactNode
  defaultPort: number
  route: Route
  onClose: () => void
}

/** What has a box of its own. */
const CONFIRMED: readonly unknown[] = [
  MESSAGES.sharedCookies,
  MESSAGES.namedServices,
  MESSAGES.namedConsole,
  MESSAGES.leftServices,
]

/** The labels of fields that are optional in one form but not in the other. */
const LABELS = {
  http: { domain: 'Public Domain', host: 'Hostname/IP' },
  tcp: { domain: 'Public Domain (Optional)', host: 'Backend Hostname/IP' },
} as const

/** The fields that services of all types have, around those of one type. */
export function ServiceForm<In extends ServiceValues, Out>(props: Props<In, Out>) {
  const { type, node, service, form, locked, publicField, protocolField, defaultPort, route } = props
  const labels = LABELS[type]
  // The fields here are among those of every service form, which the generic cannot show.
  const control = form.control as unknown as Control<ServiceValues>
  // Only errors from the server: a malformed name cannot be skipped.
  const offersSkip = useSkipOffered(
    control,
    ({ type, message }) => type === 'server' && !CONFIRMED.includes(message),
  )
  const hostAllowed = canNameHost(node)
  const fixed = service?.source && fixedText(service.source, service.nodeName)
  const isFixed = Boolean(fixed)
  return (
    <RecordDialog
      title={titleOf(type, service)}
      description={isFixed ? undefined : PURPOSES[type]}
      readOnly={fixed}
      size="l"
      footNote={<RoutePreview route={route} node={node} />}
      onClose={props.onClose}
      {...props.dialog}
    >
      {!hasTunnel(node) && !locked && <LocalNote node={node} />}
      <FormSection legend="Service" first>
        <div className="g2">
          <NodeNameField node={node} />
          <TextField
            control={control}
            name="name"
            label="Service Name"
            required
            hint={locked && "This is the console. Its path and backend can't be changed."}
          />
          {!isFixed && !locked && <EndsField control={control} kept={service?.endsAt ?? null} />}
        </div>
      </FormSection>
      <FormSection legend="Public Side">
        <div className="fields">
          <div className="g2 a">
            <PublicDomainField
              control={control}
              label={labels.domain}
              hint={props.domainHint}
              onPath={props.onPath}
              disabled={isFixed}
            />
            {publicField}
          </div>
          {offersSkip && (
            <SkipValidationField control={control} onTicked={() => form.clearErrors('domain' as never)} />
          )}
          {props.publicOption}
        </div>
      </FormSection>
      <FormSection legend="Private Side">
        <div className="g3">
          {protocolField}
          <TextField
            control={control}
            name="backendHost"
            label={labels.host}
            mono
            required={hostAllowed}
            disabled={locked || !hostAllowed}
            placeholder={hostAllowed ? '' : 'localhost'}
            hint={plainHint(node)}
          />
          <NumberField
            control={control}
            name="backendPort"
            label="Backend Port"
            placeholder={String(defaultPort)}
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
            disabled={isFixed}
            placeholder="203.0.113.0/24"
          />
          <TextListField
            control={control}
            name="blockedIps"
            label="Blocked IPs"
            itemLabel="Blocked IP"
            addText="Add IP"
            disabled={isFixed}
            placeholder="203.0.113.66"
            hint="Blocked IPs take precedence. Leave both empty to allow everyone."
          />
        </div>
      </FormSection>
      {!isFixed && props.signIn}
    </RecordDialog>
  )
}

function titleOf(type: ServiceType, service: Service | undefined): string {
  if (!service) return `Expose ${typeName(type)} Service on Node`
  return `${service.source ? '' : 'Edit '}${typeName(type)} Service: ${service.name}`
}

const STATUS = { online: 'Connected', idle: 'Idle', offline: 'Not connected' } as const

/** The node of a service: read-only, with its details in a tooltip. */
function NodeNameField({ node }: { node: Node }) {
  const facts = [
    ['Node', node.name],
    ['Internal IP', node.address],
    ['Status', hasTunnel(node) ? STATUS[node.status] : 'This server'],
    ['Gateway', node.isGateway ? 'Yes' : 'No'],
  ]
  const lines = facts.map(([name, value]) => (
    <span key={name} className="line">
      {`${name}: ${value}`}
    </span>
  ))
  return (
    <Field
      label="Node Name"
      labelEnd={
        <Tooltip text={lines} focusable className="tip">
          <Info className="ic" />
          <span className="sr">About the node</span>
        </Tooltip>
      }
    >
      {(ids) => (
        <div className="affix ro">
          {hasTunnel(node) && (
            <span className="pre">
              <NodeDot node={node} />
            </span>
          )}
          <TextInput {...ids} value={node.name} readOnly />
          <span className="post mono">{node.address}</span>
        </div>
      )}
    </Field>
  )
}

/** A preview of the route: public address, node, backend. */
function RoutePreview({ route: { from, to }, node }: { route: Route; node: Node }) {
  return (
    <p className="preview">
      <span className="sr">Route: </span>
      <span className="mono" title={from}>
        {from}
      </span>
      <span className="hop">
        <ArrowRight className="ic" aria-label="to" />
        <b title={node.name}>{node.name}</b>
      </span>
      <span className="hop">
        <ArrowRight className="ic" aria-label="to" />
        <span className="mono" title={to}>
          {to}
        </span>
      </span>
    </p>
  )
}

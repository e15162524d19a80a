import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import {
  type CreatedNode,
  type GatewayNetwork,
  type Node,
  type NodeFormInput,
  NodeForm as NodeSchema,
} from '@postern/contract/nodes'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Control, useController, useWatch } from 'react-hook-form'
import { useApi } from '../api/context.ts'
import { reload } from '../api/queries.ts'
import { NodeInfoDialog } from '../components/node-info/NodeInfoDialog.tsx'
import type { DraftValues } from '../stores/draft.ts'
import { toast } from '../ui/feedback/Toasts.tsx'
import { ListField } from '../ui/input/ListField.tsx'
import { Pills } from '../ui/input/Select.tsx'
import { FormSection } from '../ui/overlay/FormDialog.tsx'
import { CheckboxField, NumberField, TextListField } from './fields/bound-fields.tsx'
import { TextField } from './fields/TextField.tsx'
import { NEW_NODE, nextRow, nodeValues, rowsForGateway } from './node-values.ts'
import { ServiceDialog } from './service/ServiceDialog.tsx'
import { useTheirs } from './shell/conflicts.ts'
import { RecordDialog } from './shell/RecordDialog.tsx'
import { useFormDialog } from './shell/use-form-dialog.ts'
import './NodeDialog.css'

interface Props {
  /** The node to edit; without one a new node is made. */
  node?: Node | undefined
  draft?: DraftValues
  /** Called with the node once it is created. */
  onClose: (created?: CreatedNode) => void
}

/** The node form, and after a creation the dialog with the token. */
export function NodeDialog({ node, draft, onClose }: Props) {
  const [created, setCreated] = useState<CreatedNode>()
  const [isExposing, setExposing] = useState(false)
  const close = () => onClose(created)
  if (created && isExposing) return <ServiceDialog node={created} type="http" onClose={close} />
  if (created) return <NodeInfoDialog node={created} onClose={close} onExpose={() => setExposing(true)} />
  return (
    <NodeForm
      node={node}
      draft={draft}
      onClose={() => onClose()}
      onCreated={setCreated}
      onUpdated={() => {
        toast.success('Node updated successfully!')
        onClose()
      }}
    />
  )
}

interface FormProps {
  node: Node | undefined
  draft: DraftValues | undefined
  onClose: () => void
  onCreated: (created: CreatedNode) => void
  onUpdated: () => void
}

const MODES = [
  { value: 'simple', text: 'Simple' },
  { value: 'advanced', text: 'Advanced' },
]
const FILE_HINT = 'If you change this, download the config again. The CLI updates itself.'

const SHARES = ['agentMaxServices', 'agentMaxDomains', 'agentMaxPorts', 'agentMaxEntries'] as const

function NodeForm({ node, draft, onClose, onCreated, onUpdated }: FormProps) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, record, dialog } = useFormDialog({
    schema: NodeSchema,
    record: node,
    draft: { of: { form: 'node', node }, values: draft },
    valuesOf: (record) => (record ? nodeValues(record) : NEW_NODE),
    create: (body): Promise<Node | CreatedNode> => api.call(endpoints.createNode, { body }),
    update: ({ id }, body): Promise<Node | CreatedNode> =>
      api.call(endpoints.updateNode, { params: { id }, body }),
    fetch: ({ id }) => api.call(endpoints.getNode, { params: { id } }),
    onSaved: (saved) => {
      void reload(queries, { queryKey: [endpoints.listNodes.path] })
      void reload(queries, { queryKey: [endpoints.getNode.path] })
      if ('token' in saved) onCreated(saved)
      else onUpdated()
    },
  })
  const { control, setValue } = form
  const [advanced, isGateway, mayPublish] = useWatch({
    control,
    name: ['advanced', 'isGateway', 'agentMayPublish'],
  })
  const { errors } = form.formState
  // A wrong value is never hidden by the simple view.
  const showsAdvanced = advanced || errors.dns || errors.keepalive
  const showsShares = advanced || SHARES.some((name) => errors[name])
  return (
    <RecordDialog
      title={record ? `Client / Node Configuration: ${record.name}` : 'Client / Node Configuration'}
      description="Set up a network client or gateway"
      onClose={onClose}
      {...dialog}
    >
      <div className="form-mode">
        <Pills
          label="View"
          options={MODES}
          value={advanced ? 'advanced' : 'simple'}
          onValueChange={(mode) => setValue('advanced', mode === 'advanced', { shouldDirty: true })}
        />
      </div>
      <FormSection legend="Node" first>
        <div className="fields">
          <TextField control={control} name="name" label="Name" required />
          {node?.address && (
            <TextField control={control} name="address" label="Address" mono hint={FILE_HINT} />
          )}
        </div>
      </FormSection>
      {showsAdvanced && (
        <FormSection legend="Tunnel">
          <div className="fields">
            <TextField
              control={control}
              name="dns"
              label="DNS (optional)"
              mono
              placeholder="192.168.7.1"
              hint="IP addresses, separated by commas or spaces. Included in the node's config."
            />
            <NumberField
              control={control}
              name="keepalive"
              label="Persistence Keepalive"
              placeholder={String(NEW_NODE.keepalive)}
              hint="Seconds between keepalive packets. 0 turns them off."
            />
          </div>
        </FormSection>
      )}
      <FormSection legend="Gateway">
        <div className="fields">
          <CheckboxField
            control={control}
            name="isGateway"
            label="Act as a network gateway"
            text="Reach other hosts on this node's networks."
            onCheckedChange={(checked) =>
              setValue('gatewayNetworks', rowsForGateway(checked), {
                shouldDirty: true,
                shouldValidate: !checked,
              })
            }
          />
          {isGateway && <GatewayRows control={control} canAdd={Boolean(advanced)} />}
        </div>
      </FormSection>
      <FormSection legend="Agent">
        <div className="fields">
          <CheckboxField
            control={control}
            name="agentMayPublish"
            label="Agent May Publish Services"
            text="Labelled containers are published automatically. Turning this off deletes those services."
          />
          {mayPublish && (
            <div className="field in fields">
              <TextListField
                control={control}
                name="agentDomains"
                label="Domains Its Agent May Use"
                itemLabel="Domain"
                addText="Add Domain"
                placeholder="grafana.example.com or *.example.com"
                takesMany
                hint="It can include domains that you added to the console. New ones whose DNS points to this server need no entry."
              />
              {showsShares && <ShareFields control={control} />}
            </div>
          )}
        </div>
      </FormSection>
      <FormSection legend="Internet">
        <div className="fields">
          <CheckboxField
            control={control}
            name="allowInternet"
            label="Send all internet traffic through the VPN"
            text="This node's internet traffic exits through this server."
          />
        </div>
      </FormSection>
    </RecordDialog>
  )
}

/** How much the agent may publish, all its sources together. */
function ShareFields({ control }: { control: Control<NodeFormInput> }) {
  return (
    <>
      <NumberField control={control} name="agentMaxServices" label="Maximum Services" />
      <NumberField control={control} name="agentMaxDomains" label="Maximum Domains" />
      <NumberField
        control={control}
        name="agentMaxPorts"
        label="Maximum Ports"
        hint="Public ports of TCP and UDP services."
      />
      <NumberField
        control={control}
        name="agentMaxEntries"
        label="Maximum IP List Entries"
        hint="If you lower one of these, the newest services beyond it are deleted."
      />
    </>
  )
}

interface RowsProps {
  control: Control<NodeFormInput>
  canAdd: boolean
}

/** The networks behind a gateway: at least one. */
function GatewayRows({ control, canAdd }: RowsProps) {
  const { field, fieldState } = useController({ control, name: 'gatewayNetworks' })
  const theirs = useTheirs('gatewayNetworks')
  const rows: GatewayNetwork[] = field.value ?? []
  return (
    <div className="net-rows">
      <ListField
        label="Interface & Subnet"
        addText="Add Interface"
        count={rows.length}
        min={1}
        canAdd={canAdd}
        error={fieldState.error?.message}
        theirs={theirs}
        hint="192.168.1.7/24 is saved as 192.168.1.0/24."
        removeLabel={(index) => `Remove ${rows[index]?.interface || `row ${index + 1}`}`}
        onAdd={() => field.onChange([...rows, nextRow(rows)])}
        onRemove={(index) => field.onChange(rows.filter((_, at) => at !== index))}
        renderRow={(index) => (
          <>
            <TextField
              control={control}
              name={`gatewayNetworks.${index}.interface`}
              label={<span className="sr">{`Interface ${index + 1}`}</span>}
              className="net-interface"
              mono
              placeholder="eth0"
            />
            <TextField
              control={control}
              name={`gatewayNetworks.${index}.subnet`}
              label={<span className="sr">{`Subnet ${index + 1}`}</span>}
              mono
              placeholder="192.168.1.0/24"
            />
          </>
        )}
      />
    </div>
  )
}

import { endpoints } from '@postern/contract/endpoints'
import { type CreatedNode, type Node, NodeForm as NodeSchema } from '@postern/contract/nodes'
import { useQueryClient } from '@tanstack/react-query'
import { useWatch } from 'react-hook-form'
import { useApi } from '../api/context.ts'
import { FormDialog, FormSection } from '../ui/FormDialog.tsx'
import { Pills } from '../ui/Pills.tsx'
import { CheckboxField, NumberField, TextField } from './bound-fields.tsx'
import { GatewayRows } from './GatewayRows.tsx'
import { NEW_NODE, nodeValues, rowsForGateway } from './node-values.ts'
import { useFormDialog } from './use-form-dialog.ts'

interface Props {
  node: Node | undefined
  onClose: () => void
  onCreated: (created: CreatedNode) => void
  onUpdated: () => void
}

const MODES = [
  { value: 'simple', text: 'Simple' },
  { value: 'advanced', text: 'Advanced' },
]
const FILE_HINT = "After a change the node's file must be fetched again; the CLI does so by itself."

export function NodeForm({ node, onClose, onCreated, onUpdated }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, dialog } = useFormDialog({
    schema: NodeSchema,
    record: node,
    valuesOf: (record) => (record ? nodeValues(record) : NEW_NODE),
    create: (body): Promise<Node | CreatedNode> => api.call(endpoints.createNode, { body }),
    update: ({ id }, body): Promise<Node | CreatedNode> =>
      api.call(endpoints.updateNode, { params: { id }, body }),
    fetch: ({ id }) => api.call(endpoints.getNode, { params: { id } }),
    onSaved: (saved) => {
      void queries.invalidateQueries({ queryKey: [endpoints.listNodes.path] })
      void queries.invalidateQueries({ queryKey: [endpoints.getNode.path] })
      if ('token' in saved) onCreated(saved)
      else onUpdated()
    },
  })
  const { control, setValue } = form
  const [advanced, isGateway] = useWatch({ control, name: ['advanced', 'isGateway'] })
  const { errors } = form.formState
  // A wrong value is never hidden by the simple view.
  const showsAdvanced = advanced || errors.dns || errors.keepalive
  return (
    <FormDialog
      title="Client / Node Configuration"
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
          <TextField control={control} name="name" label="Name" required autoFocus />
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
              hint="IP addresses, separated by commas or blanks. They are part of the node's file, too."
            />
            <NumberField
              control={control}
              name="keepalive"
              label="Persistence Keepalive"
              placeholder={String(NEW_NODE.keepalive)}
              hint="Seconds between two packets that keep a NAT open; 0 sends none."
            />
          </div>
        </FormSection>
      )}
      <FormSection legend="Traffic">
        <div className="fields">
          <CheckboxField
            control={control}
            name="isGateway"
            label="Act as a network gateway"
            text="Services may lie on other hosts of the networks behind this node."
            onCheckedChange={(checked) =>
              setValue('gatewayNetworks', rowsForGateway(checked), {
                shouldDirty: true,
                shouldValidate: !checked,
              })
            }
          />
          {isGateway && <GatewayRows control={control} canAdd={Boolean(advanced)} />}
          <CheckboxField
            control={control}
            name="allowInternet"
            label="Send all internet traffic through the VPN"
            text="What this node itself sends to the internet leaves from this server."
          />
        </div>
      </FormSection>
    </FormDialog>
  )
}
